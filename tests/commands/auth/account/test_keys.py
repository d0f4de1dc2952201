"""`auth account keys`."""

from jsctl.auth.records import get_signing_key
from jsctl.auth.store import AuthStore
from tests.support.run import Cli
from tests.support.tables import read_table


def test_signing_keys(acme: AuthStore, auth_cli: Cli) -> None:
    line = "auth account keys add ORDERS shipper --pub-allow orders.shipped --connection nats,ws --json"
    scope = auth_cli(line, status=0).json
    assert scope["template"]["pub"] == {"allow": ["orders.shipped"]} and scope["template"]["payload"] == -1
    assert scope["template"]["allowed_connection_types"] == ["STANDARD", "WEBSOCKET"]
    auth_cli("auth user add bob ORDERS --key shipper", status=0)
    bob = acme.read_user("ORDERS", "bob")
    key = get_signing_key(acme.read_account("ORDERS").nats, bob.issuer)
    assert key is not None and key.scope is not None
    assert bob.nats["issuer_account"] == acme.read_account("ORDERS").public and "subs" not in bob.nats
    assert "of its own: --pub-allow" in auth_cli("auth user edit bob --pub-allow a", status=64).err
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


def test_edit(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account keys add ORDERS ship --pub-allow a", status=0)
    edit = "auth account keys edit ORDERS ship"
    scope = auth_cli(f"{edit} --pub-allow b --sub-deny c --json", status=0).json
    assert (scope["role"], scope["template"]["pub"], scope["template"]["sub"]) == (
        "ship",
        {"allow": ["b"]},
        {"deny": ["c"]},
    )
    assert acme.read_account("ORDERS").nats["signing_keys"] == [scope]
    assert "not a valid subject" in auth_cli(f"{edit} --pub-allow a..b", status=64).err
    assert acme.read_account("ORDERS").nats["signing_keys"] == [scope]


def test_info(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account keys add ORDERS ship --pub-allow a", status=0)
    (scope,) = acme.read_account("ORDERS").nats["signing_keys"]
    assert auth_cli("auth account keys info ORDERS ship --json", status=0).json == scope
    shown = auth_cli(f"auth account keys info ORDERS {scope['key']}", status=0).out
    assert "Role: ship" in shown and "Publish Allow: a" in shown and "Seed in the Store: true" in shown
    assert "no signing key 'nope'" in auth_cli("auth account keys info ORDERS nope", status=3).err


def test_ls(acme: AuthStore, auth_cli: Cli) -> None:
    assert auth_cli("auth account keys ls ORDERS --json", status=0).json == []
    auth_cli("auth account keys add ORDERS ship --pub-allow a", status=0)
    auth_cli("auth user add bob ORDERS --key ship", status=0)
    (row,) = auth_cli("auth account keys ls ORDERS --json", status=0).json
    assert (row["role"], row["pub_permissions"], row["users"], row["seed"]) == ("ship", 1, 1, True)
    [shown] = read_table(auth_cli("auth account keys ls ORDERS", status=0).out)
    assert shown["Role"] == "ship"
    assert "there is no account 'NOPE'" in auth_cli("auth account keys ls NOPE", status=3).err


def test_rm(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account keys add ORDERS ship --pub-allow a", status=0)
    (scope,) = acme.read_account("ORDERS").nats["signing_keys"]
    remove = "auth account keys rm ORDERS --key ship"
    assert "Really remove the signing key ship" in auth_cli(remove, status=64).err
    removed = auth_cli(f"{remove} --force --json", status=0).json
    assert removed == {"account": "ORDERS", "removed": scope["key"], "role": "ship", "users": []}
    assert not acme.has_seed(scope["key"])
    assert "no signing key 'ship'" in auth_cli(f"{remove} --force", status=3).err


def test_rm_names_the_imports_that_end(acme: AuthStore, auth_cli: Cli) -> None:
    key = auth_cli("auth account keys add ORDERS --unscoped --json", status=0).json["key"]
    for line in (
        "auth account exports add prices prices.get ORDERS --service --private",
        "auth account add SHOP",
        "auth operator edit ACME --strict",
        "auth account imports add prices prices.get SHOP --source ORDERS --service",
    ):
        auth_cli(line, status=0)
    refused = auth_cli(f"auth account keys rm ORDERS {key}", status=64)
    assert f"account SHOP imports prices.get with a token that {key} signed" in refused.err
    assert "auth account imports edit prices.get SHOP --activate" in refused.err
