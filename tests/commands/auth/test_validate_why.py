"""`auth validate`, `auth why`, `auth expirations` and `auth diagram`."""

import time
from pathlib import Path

import pytest

from jsctl.auth.keys import ACCOUNT, create_key
from tests.support.auth_store import Store
from tests.support.run import Cli

ORDERS = {"name": "orders", "subject": "orders.>", "type": "stream"}
BILL = {"name": "bill", "subject": "bill.*.req", "type": "service"}


@pytest.fixture
def store(auth_cli: Cli, tmp_path: Path) -> Store:
    """SALES exports a stream and a service, SHOP imports both."""
    store = Store(tmp_path / "data" / "nats" / "nsc")
    sales = store.account("SALES", exports=[ORDERS, BILL])
    service = {**BILL, "local_subject": "pay.$1", "account": sales.public}
    store.account("SHOP", imports=[{**ORDERS, "account": sales.public}, service])
    store.user(
        "SHOP", "alice", pub={"allow": ["pay.*"], "deny": ["pay.x"]}, sub={"deny": ["orders.secret.>"]}
    )
    return store


def test_a_store_in_order(auth_cli: Cli, store: Store) -> None:
    result = auth_cli("auth validate", status=0)
    assert result.out == "Nothing is wrong with operator OP\n"
    assert auth_cli("auth validate SHOP --json", status=0).json == {
        "errors": 0,
        "warnings": 0,
        "findings": [],
    }


def test_what_is_wrong_comes_with_the_line_that_mends_it(auth_cli: Cli, store: Store) -> None:
    store.account("SALES", exports=[BILL])
    result = auth_cli("auth validate", status=1)
    assert "error: account SHOP, imports[0]: import 'orders.>' of SALES is not exported there" in result.out
    assert "    jsctl auth account exports add orders 'orders.>' SALES --operator OP" in result.out
    assert result.out.endswith("1 error\n")
    [finding] = auth_cli("auth validate --json", status=1).json["findings"]
    assert (finding["code"], finding["account"], finding["path"]) == (
        "import-not-exported",
        "SHOP",
        "imports[0]",
    )
    assert auth_cli("auth validate SALES", status=0).out.startswith("Nothing is wrong with account SALES")
    auth_cli("auth validate NOBODY", status=3)
    assert (
        auth_cli("auth validate --as csv", status=1)
        .out.splitlines()[1]
        .startswith("error,import-not-exported")
    )


def test_warnings_alone(auth_cli: Cli, store: Store) -> None:
    store.account("SHOP", revocations={"*": 1 << 40})
    assert auth_cli("auth validate", status=0).out.endswith("1 warning\n")


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


def test_imports(auth_cli: Cli, store: Store) -> None:
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
        "192.0.2.1 is in none of the networks"
        in auth_cli("auth why --user alice --host 192.0.2.1", status=1).out
    )
    auth_cli("auth why --user alice --host 10.1.1.1", status=0)
    assert "the JWT expired" in auth_cli(f"auth why --user {old}", status=1).out
    store.account("SHOP", revocations={store.users["SHOP/alice"].public: int(time.time()) + 5})
    assert "the user is revoked as of" in auth_cli("auth why --user alice", status=1).out
    other = Store(tmp_path / "other")
    other.account("FAR")
    result = auth_cli(f"auth why --user {other.user('FAR', 'zoe')}", status=1)
    assert "is not in the store: servers may not know it either" in result.out


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


def test_expirations(auth_cli: Cli, store: Store) -> None:
    now = int(time.time())
    store.user("SHOP", "alice", top={"exp": now + 86_400 * 10})
    store.user("SHOP", "bob", top={"exp": now - 60})
    store.account("SHOP", top={"exp": now + 86_400 * 100})
    rows = auth_cli("auth expirations --within 30d --json", status=0).json
    assert [(row["name"], row["state"], row["kind"]) for row in rows] == [
        ("bob", "expired", "user"),
        ("alice", "soon", "user"),
    ]
    everything = auth_cli("auth expirations --json", status=0).json
    assert [row["name"] for row in everything][:3] == ["bob", "alice", "SHOP"]
    assert everything[-1]["expires"] is None
    assert auth_cli("auth expirations --within 1s --operator OP", status=0).out.count("\n") >= 1
    store.user("SHOP", "bob")
    assert auth_cli("auth expirations --within 1s", status=0).out == "Nothing expires within 1s\n"


def test_diagrams(auth_cli: Cli, store: Store) -> None:
    tree = auth_cli("auth diagram", status=0).out
    assert "│   ├── exports stream orders.>\n│   │   └── to SHOP\n" in tree
    assert "imports service bill.*.req of SALES as pay.*" in tree
    dot = auth_cli("auth diagram --format dot", status=0).out
    assert dot.startswith('digraph "OP" {') and dot.rstrip().endswith("}")
    mermaid = auth_cli("auth diagram --format mermaid", status=0).out
    assert mermaid.startswith("flowchart LR\n") and '"stream orders.#62;"' in mermaid
    document = auth_cli("auth diagram --json", status=0).json
    assert [one["problem"] for one in document["imports"]] == ["", ""]
    store.account("SALES", exports=[BILL])
    assert "which does not work: it is not exported there" in auth_cli("auth diagram", status=0).out


def test_no_store(auth_cli: Cli) -> None:
    for verb in ("validate", "why --user x", "expirations", "diagram"):
        assert len(auth_cli(f"auth {verb}", status=3).err.strip().splitlines()) == 1
