"""A service of an auth callout decides who gets in, on real servers."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from jsctl.auth.keys import ACCOUNT, CURVE, KeyPair, create_key
from tests.support.callout import CalloutService
from tests.support.operator_site import Site
from tests.support.run import Cli
from tests.support.servers import RealServer

USERS: Mapping[str, tuple[str, Any]] = {
    "bob": ("secret", {"pub": {"allow": ["orders.>", "_INBOX.>"]}, "sub": {"allow": [">"]}}),
    "eve": ("secret", {"pub": {"allow": ["nothing"]}, "sub": {"allow": ["nothing"]}}),
}


class CalloutSite(Site):
    """An account AUTH whose service decides who gets into account ORDERS, and a sentinel, with whose JWT
    users come."""

    def __init__(self, folder: Path, *, encrypted: bool) -> None:
        super().__init__(folder)
        self.creds = folder / "service.creds"
        self.curve = create_key(CURVE) if encrypted else None
        for line in (
            "account add ORDERS --jetstream",
            "account add AUTH --bearer",
            f"user add service AUTH --credential {self.creds}",
            f"user add admin ORDERS --credential {folder}/admin.creds",
            "user add sentinel AUTH --bearer --pub-deny > --sub-deny >",
            "account callout AUTH --auth-user service --allow ORDERS"
            + (f" --xkey {self.curve.public}" if self.curve else ""),
            "account push --all",
        ):
            self.cli(f"auth {line}", status=0)
        config = self.cli(f"auth operator config ACME --dir {folder / 'jwt'} --sentinel sentinel", status=0)
        text = self.server.config.read_text()
        self.server.stop()
        self.server.config.write_text(text[: text.index("operator:")] + config.out)
        self.server.start()

    def key(self, account: str) -> KeyPair:
        return self.store.read_key(self.store.read_account(account).public)

    def service(self, users: Mapping[str, tuple[str, Any]] = USERS) -> CalloutService:
        return CalloutService(self.key("AUTH"), self.key("ORDERS"), users, curve=self.curve)


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "encrypted"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CalloutSite]:
    site = CalloutSite(tmp_path_factory.mktemp("callout"), encrypted=request.param)
    yield site
    site.server.stop()


@pytest.mark.slow
def test_a_service_decides_who_gets_in(site: CalloutSite) -> None:
    assert site.cli("auth validate", status=0).out.startswith("Nothing is wrong")
    login = f"--server {site.server.url_for('bob', 'secret')}"
    assert "authorization violation" in site.cli(f"publish orders.new x {login}", status=5).err.lower()
    admin = f"--server {site.server.url} --creds {site.creds.parent}/admin.creds"
    site.cli(f"stream add ORDERS --subjects orders.> --defaults {admin}", status=0)
    service = site.service()
    with service.running(site.server.url, user_credentials=str(site.creds)):
        site.cli(f"publish orders.new x {login}", status=0)
        assert "permission" in site.cli(f"publish other x {login}", status=5).err.lower()
        wrong = site.server.url_for("bob", "wrong")
        site.cli(f"publish orders.new x --server {wrong}", status=5)
        unknown = site.server.url_for("mallory", "secret")
        site.cli(f"publish orders.new x --server {unknown}", status=5)
    # He is a user of the account that the service gave him.
    assert site.cli(f"stream info ORDERS --json {admin}", status=0).json["state"]["messages"] == 1
    assert {"bob", "mallory"} <= set(service.asked)
    site.cli(f"publish orders.new x {login}", status=5)


def test_a_service_may_use_allowed_accounts_only(site: CalloutSite) -> None:
    service = CalloutService(site.key("AUTH"), create_key(ACCOUNT), USERS, curve=site.curve)
    with service.running(site.server.url, user_credentials=str(site.creds)):
        site.cli(f"publish orders.new x --server {site.server.url_for('bob', 'secret')}", status=5)
    assert service.asked


def test_why_says_who_decides(site: CalloutSite) -> None:
    said = site.cli("auth why --user sentinel --account AUTH", status=0).out
    assert "the callout of AUTH decides: servers ask" in said
    assert "service" in said
    said = site.cli("auth why --user service --account AUTH --sub $SYS.REQ.USER.AUTH", status=0).out
    assert "callout" not in said.splitlines()[-1]
    site.cli("auth why --user service --account AUTH --pub $SYS.REQ.USER.AUTH", status=1)
    document = site.cli("auth why --user sentinel --account AUTH --json", status=0).json
    assert any("callout" in note for note in document["notes"])


def test_a_server_without_an_operator(tmp_path: Path) -> None:
    issuer, curve = create_key(ACCOUNT), create_key(CURVE)
    server = RealServer(
        tmp_path,
        f"""
listen: "127.0.0.1:{{port}}"
accounts {{
  AUTH: {{ users: [{{user: service, password: service}}] }}
  ORDERS: {{ }}
}}
authorization {{
  auth_callout {{ issuer: {issuer.public}, auth_users: [service], account: AUTH, xkey: {curve.public} }}
}}
""",
    )
    server.start()
    cli = Cli(tmp_path / "config")
    service = CalloutService(issuer, issuer, USERS, audience="ORDERS", curve=curve)
    try:
        with service.running(server.url, user="service", password="service"):
            cli(f"publish orders.new x --server {server.url_for('bob', 'secret')}", status=0)
            cli(f"publish orders.new x --server {server.url_for('eve', 'secret')}", status=5)
            cli(f"publish orders.new x --server {server.url_for('bob', 'wrong')}", status=5)
        assert set(service.asked) == {"bob", "eve"}
    finally:
        server.stop()


def test_a_service_of_another_account_and_an_invalid_sentinel(acme: object, auth_cli: Cli) -> None:
    auth_cli("auth account add AUTH", status=0)
    alice = auth_cli("auth user info alice ORDERS --json", status=0).json["sub"]
    auth_cli(f"auth account callout AUTH --auth-user {alice} --allow ORDERS", status=0)
    assert (
        "belongs to account ORDERS; it must belong to AUTH itself" in auth_cli("auth validate", status=1).out
    )
    error = auth_cli("auth operator config --sentinel ORDERS/alice", status=64).err
    assert "user alice must sign with a key, which clients that use a sentinel do not have" in error
    auth_cli("auth user add open ORDERS --bearer", status=0)
    error = auth_cli("auth operator config --sentinel open", status=64).err
    assert "account ORDERS has no auth callout" in error
