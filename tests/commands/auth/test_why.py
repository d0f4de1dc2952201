"""`auth why`."""

import time
from pathlib import Path

import pytest

from jsctl.auth.keys import ACCOUNT, create_key
from tests.support.auth_store import BILL, ORDERS, Store
from tests.support.run import Cli


def test_what_a_user_may_publish(auth_cli: Cli, store: Store) -> None:
    result = auth_cli("auth why --user alice --pub pay.eu", status=0)
    assert "alice of SHOP may publish to pay.eu" in result.out
    assert "'pay.*' allows it: pub.allow[0] of user SHOP/alice" in result.out
    assert "service pay.* is bill.eu.req in account SALES" in result.out
    result = auth_cli("auth why --user alice --pub pay.x", status=1)
    assert "'pay.x' denies it: pub.deny[0] of user SHOP/alice" in result.out
    result = auth_cli("auth why --user alice --pub other --json", status=1)
    permission = result.json["permission"]
    assert (permission["path"], permission["rule"]) == ("pub.allow", "pay.*")
    assert "--pub-allow 'pay.*' --pub-allow other" in permission["fix"]


def test_what_a_user_may_subscribe_to(auth_cli: Cli, store: Store) -> None:
    result = auth_cli("auth why --user alice --sub 'orders.>'", status=0)
    assert "messages on 'orders.secret.>' are not delivered (sub.deny[0])" in result.out
    assert "imports[0] of SHOP: stream orders.> is orders.> in account SALES" in result.out
    auth_cli("auth why --user alice --sub orders.secret.x --queue q", status=1)


def test_whose_rule_decides(auth_cli: Cli, store: Store) -> None:
    key = create_key(ACCOUNT)
    template = {"pub": {"allow": ["team.{{tag(team)}}"]}, "subs": -1, "data": -1, "payload": -1}
    scope = {"kind": "user_scope", "key": key.public, "role": "dev", "template": template}
    store.account("SHOP", signing_keys=[scope], default_permissions={"sub": {"allow": ["news"]}})
    store.user("SHOP", "bob", signer=key, nats={"tags": ["team:red"]})
    store.user("SHOP", "carol")
    allowed = auth_cli("auth why --user bob --pub team.red --json", status=0).json["permission"]
    assert (allowed["where"], allowed["path"], allowed["rule"]) == (
        "role dev of account SHOP",
        "signing_keys[0].template.pub.allow[0]",
        "team.red",
    )
    denied = auth_cli("auth why --user carol --sub olds --json", status=1).json["permission"]
    assert (denied["where"], denied["path"]) == ("account SHOP", "default_permissions.sub.allow")


def test_a_missing_import_and_a_missing_token_are_named(auth_cli: Cli, store: Store) -> None:
    auth_cli("auth why --account SHOP --import orders.new", status=0)
    store.account("OTHER")
    result = auth_cli("auth why --account OTHER --import orders.new", status=1)
    assert "OTHER imports nothing at orders.new" in result.out
    assert "jsctl auth account imports add orders orders.new OTHER --source" in result.out
    store.account("SALES", exports=[{**ORDERS, "token_req": True}, BILL])
    result = auth_cli("auth why --account SHOP --import orders.new --json", status=1)
    assert result.json["imports"][0]["code"] == "import-without-token"


def test_why_a_connection_is_refused(auth_cli: Cli, store: Store, tmp_path: Path) -> None:
    assert "Servers let alice connect" in auth_cli("auth why --user alice", status=0).out
    old = tmp_path / "old.creds"
    old.write_text(store.user("SHOP", "alice", top={"exp": 1}).read_text())
    result = auth_cli("auth why --user alice --pub pay.eu", status=1)
    assert "Servers refuse alice (Authorization Violation): the JWT expired at 1970-01-01" in result.out
    store.user("SHOP", "alice", src=["10.0.0.0/8"])
    assert (
        "192.0.2.1 is not in the networks" in auth_cli("auth why --user alice --host 192.0.2.1", status=1).out
    )
    auth_cli("auth why --user alice --host 10.1.1.1", status=0)
    assert "the JWT expired" in auth_cli(f"auth why --user {old}", status=1).out
    store.account("SHOP", revocations={store.users["SHOP/alice"].public: int(time.time()) + 5})
    assert "the user is revoked as of" in auth_cli("auth why --user alice", status=1).out
    other = Store(tmp_path / "other")
    other.account("FAR")
    result = auth_cli(f"auth why --user {other.user('FAR', 'zoe')}", status=1)
    assert "is not in the store, and servers may not have it either" in result.out


def mend(auth_cli: Cli, question: str) -> None:
    """Paste the line that the answer offers: then the answer is yes."""
    answer = auth_cli(f"{question} --json", status=1).json
    fixes = [check["fix"] for check in answer["connection"] if not check["passed"]]
    fixes = fixes or [answer["permission"]["fix"]]
    assert len(fixes) == 1 and fixes[0].startswith("jsctl auth "), answer
    for line in fixes[0].split(" && "):
        auth_cli(line.removeprefix("jsctl "), status=0)
    auth_cli(question, status=0)


def test_the_line_for_a_user_lets_it_connect(auth_cli: Cli, store: Store) -> None:
    store.user("SHOP", "alice", top={"exp": int(time.time()) - 5}, pub={"allow": ["pay.*"]})
    mend(auth_cli, "auth why --user alice")
    store.account("SHOP", revocations={store.users["SHOP/alice"].public: int(time.time())})
    mend(auth_cli, "auth why --user alice")
    auth_cli("auth why --user alice --pub other", status=1)
    store.account("SHOP", top={"exp": 1}, revocations={})
    mend(auth_cli, "auth why --user alice")


def test_the_line_for_credentials_writes_the_file(auth_cli: Cli, store: Store, tmp_path: Path) -> None:
    """Those of a user who is well are written anew; else the user is mended, and then they are."""
    path = tmp_path / "my alice.creds"
    question = f"auth why --user '{path}'"
    well = store.user("SHOP", "alice", pub={"allow": ["pay.*"]}, src=["10.0.0.0/8"]).read_text()
    expired = store.user("SHOP", "alice", top={"iat": 1, "exp": 86401}).read_text()
    path.write_text(expired)
    mend(auth_cli, question)
    assert auth_cli("auth why --user alice").status == 0
    store.user("SHOP", "alice", pub={"allow": ["pay.*"]}, src=["10.0.0.0/8"])
    before = store.files.get_user_path("SHOP", "alice").read_text()
    path.write_text(expired)
    mend(auth_cli, question)
    assert store.files.get_user_path("SHOP", "alice").read_text() == before
    auth_cli(f"{question} --pub other", status=1)
    mend(auth_cli, f"{question} --pub other")
    auth_cli(f"{question} --host 192.0.2.1 --pub other", status=1)
    path.write_text(well)
    mend(auth_cli, f"{question} --pub other")
    store.account("SHOP", revocations={store.users["SHOP/alice"].public: int(time.time())})
    mend(auth_cli, question)
    store.files.get_user_path("SHOP", "alice").unlink()
    path.write_text(expired)
    assert not any(check["fix"] for check in auth_cli(f"{question} --json").json["connection"])


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("auth why", 64),
        ("auth why --pub x", 64),
        ("auth why --user alice --pub x --sub y", 64),
        ("auth why --user alice --pub 'x.*'", 64),
        ("auth why --user alice --queue q", 64),
        ("auth why --user alice --host here", 64),
        ("auth why --user nobody", 3),
        ("auth why --user alice --account NONE", 3),
        ("auth why --import x", 64),
    ],
)
def test_bad_questions(auth_cli: Cli, store: Store, line: str, status: int) -> None:
    assert len(auth_cli(line, status=status).err.strip().splitlines()) == 1


def test_a_name_in_several_accounts(auth_cli: Cli, store: Store) -> None:
    store.user("SALES", "alice")
    assert "accounts SALES, SHOP have a user alice" in auth_cli("auth why --user alice", status=64).err
    auth_cli("auth why --user alice --account SALES", status=0)
