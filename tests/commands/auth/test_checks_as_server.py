"""What is found wrong is what a real server refuses: accounts at its resolver, users at the door."""

import asyncio
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jsctl.auth.environment import Environment
from jsctl.auth.jwt import decode_jwt
from jsctl.auth.keys import ACCOUNT, OPERATOR, create_key
from jsctl.auth.records import Record, User
from jsctl.auth.resolver import push_account
from jsctl.auth.why.connecting import Visit, explain_connection
from jsctl.contexts.settings import Settings
from jsctl.nats.connection import Connection
from tests.support.auth_store import UNLIMITED, Store
from tests.support.raw_client import RawClient
from tests.support.run import Cli
from tests.support.servers import RealServer
from tests.unit.auth.test_check import REFUSED, SERVICE, STREAM, base


class Site:
    """A server with a full resolver, the operator of a store, and users who may not all connect."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder / "auth")
        base(self.store)
        make_users(self.store)
        self.server = RealServer(folder, self.store.server_config()).start()

    def push(self, names: list[str]) -> list[str]:
        """Send accounts, and return why the server refuses each; empty where it does not."""
        return self.push_tokens([self.store.token(name) for name in names])

    def push_tokens(self, tokens: list[str]) -> list[str]:
        """As `push`, of JWTs."""
        login = self.store.files.get_user_path("SYS", "sys").read_text()
        seed = self.store.users["SYS/sys"].seed

        async def work() -> list[str]:
            settings = Settings(url=self.server.url, jwt=login, seed=seed)
            connection = await Connection.open(settings)
            try:
                errors = []
                for token in tokens:
                    [outcome] = await push_account(connection, Record("A", token, decode_jwt(token)), 1)
                    errors.append(outcome.error)
                return errors
            finally:
                await connection.close()

        return asyncio.run(work())

    def connect(self, user: User) -> str:
        """Why the server refuses a user; empty where it does not."""
        with RawClient(
            self.server.port, user.token, self.store.users[f"{user.account}/{user.name}"]
        ) as client:
            return client.refused


def make_users(store: Store) -> None:
    """Users of every kind, good and bad, in accounts of their own."""
    now = int(time.time())
    store.account("DOOR", revocations={})
    one: dict[str, dict[str, Any]] = {
        "good": {},
        "expired": {"top": {"exp": now - 5}},
        "later": {"top": {"nbf": now + 3600}},
        "near": {"src": ["127.0.0.0/8"]},
        "far": {"src": ["10.0.0.0/8"]},
        "always": {"times": [{"start": "00:00:00", "end": "23:59:59"}]},
        "over-midnight": {"times": [{"start": "12:00:00", "end": "11:59:59"}], "times_location": "UTC"},
        "mqtt": {"allowed_connection_types": ["MQTT"]},
        "fax": {"allowed_connection_types": ["FAX"]},
        "standard": {"allowed_connection_types": ["standard", "MQTT"]},
        "bad-rule": {"pub": {"allow": ["a b"]}},
        "stranger": {"signer": create_key(ACCOUNT)},
        "lost": {"issuer_account": create_key(ACCOUNT).public},
        "revoked": {},
    }
    for name, claims in one.items():
        store.user("DOOR", name, **claims)
    store.account("DOOR", revocations={store.users["DOOR/revoked"].public: now + 60})
    store.account("ALL-REVOKED", revocations={"*": now + 60})
    store.user("ALL-REVOKED", "u")
    store.account("CLOSED", limits={**UNLIMITED, "conn": 0})
    store.user("CLOSED", "u")
    store.account("NO-BEARER", limits={**UNLIMITED, "disallow_bearer": True})
    store.user("NO-BEARER", "bearer", bearer_token=True)
    store.user("NO-BEARER", "plain")
    store.account("EXPIRED", top={"exp": now - 5})
    store.user("EXPIRED", "u")
    key = create_key(ACCOUNT)
    template = {"subs": -1, "data": -1, "payload": -1, "pub": {"deny": ["{{tag(team)}}.x"]}}
    store.account(
        "ROLES", signing_keys=[{"kind": "user_scope", "key": key.public, "role": "r", "template": template}]
    )
    store.user("ROLES", "tagged", signer=key, nats={"tags": ["team:a"]})
    store.user("ROLES", "untagged", signer=key, nats={})
    store.user("ROLES", "own", signer=key)
    store.user("ROLES", "empty-list", signer=key, nats={"tags": ["team:a"], "pub": {"allow": []}})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("site"))
    yield site
    site.server.stop()


@pytest.mark.slow
def test_who_may_connect(site: Site) -> None:
    environment: Environment = site.store.read()
    outcomes = {}
    for account in environment.accounts:
        for user in account.users:
            checks = explain_connection(environment, account, user, Visit(time.time(), "127.0.0.1"))
            outcomes[f"{account.name}/{user.name}"] = checks[-1].problem, site.connect(user)
    different = {name: both for name, both in outcomes.items() if bool(both[0]) != bool(both[1])}
    assert different == {}
    assert sum(bool(refused) for _, refused in outcomes.values()) >= 15
    assert sum(not refused for _, refused in outcomes.values()) >= 7


@pytest.mark.slow
def test_accounts_that_are_wrong_are_refused(site: Site) -> None:
    store, codes, tokens = site.store, [], []
    for code, change in REFUSED:
        change(store)
        codes.append(code)
        # That of the two which the change is not about is as it was.
        tokens.append([store.token("EXP"), store.token("IMP")])
        base(store)
    answers = site.push_tokens([*tokens[0], *(token for pair in tokens for token in pair)])
    pairs = list(zip(answers[2::2], answers[3::2], strict=True))
    accepted = [code for code, pair in zip(codes, pairs, strict=True) if not any(pair)]
    assert accepted == []
    assert site.push(["EXP", "IMP"]) == ["", ""]


def test_what_servers_have(site: Site, tmp_path: Path) -> None:
    cli, store = Cli(tmp_path / "config"), site.store
    ask = f"--servers --store {store.root} --server {site.server.url} --as-system"
    site.push(["EXP", "IMP"])
    assert cli(f"auth validate EXP {ask} --json", status=0).json["findings"] == []
    store.account("EXP", exports=[SERVICE])
    [finding] = cli(f"auth validate EXP {ask} --json", status=0).json["findings"]
    assert finding["code"] == "account-not-pushed"
    # The import is in order with what servers have, whatever the store has.
    line = f"auth why --store {store.root} --account IMP --import {STREAM['subject']}"
    cli(line, status=1)
    cli(f"{line} {ask}", status=0)
    base(store)
    store.account("NEW")
    store.user("NEW", "u")
    refused = cli(f"auth why --user u --account NEW {ask}", status=1).out
    assert "it is not in the resolver" in refused and "jsctl auth account push --all" in refused
    site.push(["NEW"])
    creds = store.files.get_creds_path("NEW", "u").rename(tmp_path / "u.creds")
    shutil.rmtree(store.files.get_account_path("NEW").parent)
    cli(f"auth why --user {creds} --store {store.root}", status=1)
    assert "let u connect" in cli(f"auth why --user {creds} {ask}", status=0).out
    key = create_key(OPERATOR)
    store.operator(signing_keys=[key.public])
    store.account("NEW", signer=key)
    findings = cli(f"auth validate {ask} --json", status=1).json["findings"]
    older = [finding for finding in findings if finding["code"] == "server-operator-older"]
    assert [(one["severity"], "signed NEW" in one["message"]) for one in older] == [("error", True)]
    site.push(["NEW"])
    store.operator(signing_keys=[])
