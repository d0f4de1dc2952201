"""`auth account` exports, imports, activations, keys, mappings, revocations, callout, rm."""

from pathlib import Path

import pytest

from jsctl.auth.changes import change_operator
from jsctl.auth.jwt import decode_jwt
from jsctl.auth.keys import create_key
from jsctl.auth.records import is_scoped
from jsctl.auth.store import AuthStore
from tests.support.run import Cli


@pytest.fixture
def shop(acme: AuthStore, auth_cli: Cli) -> AuthStore:
    """Beside ORDERS, account SHOP with user sam."""
    auth_cli("auth account add SHOP", status=0)
    auth_cli("auth user add sam SHOP", status=0)
    return acme


def test_an_export_and_its_import(shop: AuthStore, auth_cli: Cli) -> None:
    line = "auth account exports add prices 'prices.*.get' ORDERS --service --token-position 2 --advertise"
    flags = (
        "--response-type stream --response-threshold 2s --latency lat.p --sampling 10 --description Prices"
    )
    export = auth_cli(f"{line} {flags} --json", status=0).json
    assert export == {
        "name": "prices",
        "subject": "prices.*.get",
        "type": "service",
        "account_token_position": 2,
        "advertise": True,
        "response_type": "Stream",
        "response_threshold": 2_000_000_000,
        "service_latency": {"sampling": 10, "results": "lat.p"},
        "description": "Prices",
    }
    line = "auth account imports add prices 'prices.*.get' SHOP --source ORDERS --service --share"
    imported = auth_cli(f"{line} --local 'shop.prices.$1' --json", status=0).json
    assert imported["account"] == shop.read_account("ORDERS").public and imported["share"]
    assert imported["local_subject"] == "shop.prices.$1"
    (row,) = auth_cli("auth account exports ls ORDERS --json", status=0).json
    assert row["importers"] == ["SHOP"] and row["token_position"] == 2
    edit = "auth account exports edit 'prices.*.get' ORDERS --no-advertise --latency '' --token-position 0"
    export = auth_cli(f"{edit} --json", status=0).json
    assert not {"advertise", "service_latency", "account_token_position"} & set(export)
    auth_cli("auth account imports edit 'shop.prices.$1' SHOP --local 'p.*' --no-share", status=0)
    assert "p.*" in auth_cli("auth account imports info 'p.*' SHOP", status=0).out
    assert "SHOP import it" in auth_cli("auth account exports rm 'prices.*.get' ORDERS --force", status=0).err
    auth_cli("auth account imports rm 'p.*' SHOP --force", status=0)
    assert auth_cli("auth account imports ls SHOP --json", status=0).json == []
    assert "imports" not in shop.read_account("SHOP").nats


def test_a_private_export_needs_an_activation(shop: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    auth_cli("auth account exports add orders 'orders.>' ORDERS --private", status=0)
    added = auth_cli("auth account imports add orders orders.new SHOP --source ORDERS --json", status=0)
    assert "activation token of ORDERS is signed" in added.err
    claims = decode_jwt(added.json["token"])
    assert claims["sub"] == shop.read_account("SHOP").public
    assert claims["iss"] == shop.read_account("ORDERS").public
    assert claims["nats"] == {"subject": "orders.new", "kind": "stream", "type": "activation", "version": 2}
    token = tmp_path / "token"
    line = "auth account activations add 'orders.>' ORDERS SHOP --expiry 1d"
    assert auth_cli(f"{line} --output {token}", status=0).out == ""
    assert "exp" in decode_jwt(token.read_text())
    auth_cli(f"auth account imports edit orders.new SHOP --token {token}", status=0)
    assert "Token Expiry" in auth_cli("auth account imports info orders.new SHOP", status=0).out
    foreign = create_key("account").public
    auth_cli(f"auth account activations add 'orders.>' ORDERS {foreign} --output {token}", status=0)
    err = auth_cli(f"auth account imports edit orders.new SHOP --token {token}", status=64).err
    assert foreign in err


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("exports add x 'a..b' ORDERS", 64, "not a valid subject"),
        ("exports add x a.b ORDERS --token-position 1", 64, "is not a *"),
        ("exports add x a.b ORDERS --latency l", 64, "--service"),
        ("exports add x s.v ORDERS --service --latency l --sampling 101", 64, "percentage"),
        ("exports info a.b ORDERS", 3, "does not export a.b"),
        ("exports info '' ORDERS", 3, "has no exports"),
        ("imports add x a.b SHOP --source NOPE", 3, "no account 'NOPE'"),
        ("imports add x a.b SHOP --source SHOP", 64, "from itself"),
        ("imports add x 'a.*' SHOP --source ORDERS --local b", 64, "wildcards"),
        ("imports add x a.b SHOP --source ORDERS --share", 64, "--service"),
        ("imports rm a.b SHOP --force", 3, "no import at a.b"),
        ("mappings add ORDERS a b 0", 64, "0"),
        ("mappings rm ORDERS a", 3, "no mapping of a"),
        ("keys info ORDERS nope", 3, "no signing key 'nope'"),
        ("keys add ORDERS", 64, "--no-scope"),
        ("revocations add nobody ORDERS", 3, "no user 'nobody'"),
        ("revocations rm alice ORDERS --force", 3, "does not revoke"),
        ("callout SHOP --allow ORDERS", 64, "--auth-user"),
        ("callout SHOP --auth-user sam --xkey abc", 64, "curve"),
        ("rm SYSTEM --force", 64, "system account"),
        ("rm SHOP", 64, "--force"),
    ],
)
def test_errors_are_one_line(line: str, status: int, words: str, shop: AuthStore, auth_cli: Cli) -> None:
    before = shop.account_jwt("ORDERS").read_text(), shop.account_jwt("SHOP").read_text()
    outcome = auth_cli(f"auth account {line}", status=status)
    assert words in outcome.err and len(outcome.err.splitlines()) == 1 and not outcome.out
    assert before == (shop.account_jwt("ORDERS").read_text(), shop.account_jwt("SHOP").read_text())


def test_what_nobody_exports_is_said(shop: AuthStore, auth_cli: Cli) -> None:
    added = auth_cli("auth account imports add x a.b SHOP --source ORDERS", status=0)
    assert "does not export a.b as a stream" in added.err
    assert "already" in auth_cli("auth account imports add y a.b SHOP --source ORDERS", status=64).err


def test_signing_keys(acme: AuthStore, auth_cli: Cli) -> None:
    line = "auth account keys add ORDERS shipper --pub-allow orders.shipped --connection nats,ws --json"
    scope = auth_cli(line, status=0).json
    assert scope["template"]["pub"] == {"allow": ["orders.shipped"]} and scope["template"]["payload"] == -1
    assert scope["template"]["allowed_connection_types"] == ["STANDARD", "WEBSOCKET"]
    auth_cli("auth user add bob ORDERS --key shipper", status=0)
    bob = acme.read_user("ORDERS", "bob")
    assert is_scoped(bob, acme.read_account("ORDERS").nats)
    assert bob.nats["issuer_account"] == acme.read_account("ORDERS").public and "subs" not in bob.nats
    assert "of their own: --pub-allow" in auth_cli("auth user edit bob --pub-allow a", status=64).err
    assert "orders.shipped" in auth_cli("auth user info bob", status=0).out
    auth_cli("auth account keys edit ORDERS shipper --pub-deny x --description Ships", status=0)
    (row,) = auth_cli("auth account keys ls ORDERS --json", status=0).json
    assert (row["role"], row["description"], row["pub_permissions"], row["users"]) == (
        "shipper",
        "Ships",
        2,
        1,
    )
    plain = auth_cli("auth account keys add ORDERS --no-scope --json", status=0).json["key"]
    auth_cli(f"auth user add eve ORDERS --key {plain} --pub-allow a", status=0)
    assert acme.read_user("ORDERS", "eve").issuer == plain
    removed = auth_cli("auth account keys rm ORDERS --key shipper --force", status=0)
    assert "bob" in removed.err and not acme.has_seed(scope["key"])
    assert [row["key"] for row in auth_cli("auth account keys ls ORDERS --json", status=0).json] == [plain]


def test_strict_operators_sign_with_signing_keys(acme: AuthStore, auth_cli: Cli) -> None:
    operator = acme.read_operator()
    auth_cli("auth operator edit ACME --strict", status=0)
    auth_cli("auth account edit ORDERS", status=0)
    assert acme.read_account("ORDERS").issuer in operator.nats["signing_keys"]
    assert "--no-scope" in auth_cli("auth user add bob ORDERS", status=64).err
    auth_cli("auth account keys add ORDERS --no-scope", status=0)
    auth_cli("auth user add bob ORDERS", status=0)
    assert acme.read_user("ORDERS", "bob").issuer != acme.read_account("ORDERS").public


def test_mappings(acme: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    auth_cli("auth account mappings add ORDERS a.b c.d 30", status=0)
    assert "already" in auth_cli("auth account mappings add ORDERS a.b c.d 30", status=64).err
    assert "at most 100%" in auth_cli("auth account mappings add ORDERS a.b c.e 71", status=64).err
    auth_cli("auth account mappings add ORDERS a.b c.e 100 east", status=0)
    assert "100% in cluster east" in auth_cli("auth account mappings info ORDERS a.b", status=0).out
    file = tmp_path / "m.yaml"
    file.write_text("x.*:\n- subject: y.{{wildcard(1)}}\n  weight: 40\n- {subject: z, weight: 60}\n")
    auth_cli(f"auth account mappings add ORDERS --config {file}", status=0)
    rows = auth_cli("auth account mappings ls ORDERS --json", status=0).json
    assert [(row["source"], row["weight"]) for row in rows] == [
        ("a.b", 30),
        ("a.b", 100),
        ("x.*", 40),
        ("x.*", 60),
    ]
    file.write_text("x: 5\n")
    assert "list of targets" in auth_cli(f"auth account mappings add ORDERS --config {file}", status=64).err
    auth_cli("auth account mappings rm ORDERS a.b", status=0)
    auth_cli("auth account mappings rm ORDERS 'x.*' --force", status=0)
    assert "mappings" not in acme.read_account("ORDERS").nats


def test_revocations(shop: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account exports add orders 'orders.>' ORDERS", status=0)
    auth_cli("auth account revocations add alice ORDERS", status=0)
    auth_cli("auth account revocations add '*' ORDERS --at 1h", status=0)
    rows = auth_cli("auth account revocations add SHOP ORDERS --export 'orders.>' --json", status=0).json
    assert [(row["kind"], row["name"]) for row in rows] == [
        ("user", "(all)"),
        ("user", "alice"),
        ("activation", "SHOP"),
    ]
    assert rows[1]["until"] - rows[0]["until"] in range(3590, 3611)
    assert "Revoked: true" in auth_cli("auth user info alice", status=0).out
    auth_cli("auth account revocations rm alice ORDERS --force", status=0)
    auth_cli("auth account revocations rm SHOP ORDERS --export 'orders.>' --force", status=0)
    assert [row["key"] for row in auth_cli("auth account revocations ls ORDERS --json", status=0).json] == [
        "*"
    ]
    alice = shop.read_user("ORDERS", "alice")
    auth_cli("auth user rm alice --revoke --force", status=0)
    assert alice.public in shop.read_account("ORDERS").nats["revocations"]
    assert not shop.has_seed(alice.public) and not shop.creds("ORDERS", "alice").exists()


def test_callout(shop: AuthStore, auth_cli: Cli) -> None:
    xkey = create_key("curve").public
    line = f"auth account callout SHOP --auth-user sam --allow ORDERS --xkey {xkey} --json"
    callout = auth_cli(line, status=0).json
    assert callout == {
        "auth_users": [shop.read_user("SHOP", "sam").public],
        "allowed_accounts": [shop.read_account("ORDERS").public],
        "xkey": xkey,
    }
    assert "sam (U" in auth_cli("auth account callout SHOP", status=0).out
    assert auth_cli("auth account callout SHOP --off --json", status=0).json == {}


def test_an_account_is_removed_with_its_users(shop: AuthStore, auth_cli: Cli) -> None:
    sam = shop.read_user("SHOP", "sam")
    assert "1 users" not in auth_cli("auth account rm SHOP", answers=[False], status=0).err
    assert "SHOP" in shop.account_names()
    auth_cli("auth account rm SHOP --force --keys", status=0)
    assert shop.account_names() == ["ORDERS", "SYSTEM"]
    assert not shop.has_seed(sam.public) and not shop.creds("SHOP", "sam").exists()


def test_unknown_claims_of_the_operator_survive(acme: AuthStore, auth_cli: Cli) -> None:
    change_operator(acme, lambda nats: nats.update(of_2030=[1]))
    auth_cli("auth operator edit ACME --tags x --account-server nats://h", status=0)
    nats = acme.read_operator().nats
    assert nats["of_2030"] == [1] and nats["account_server_url"] == "nats://h"
