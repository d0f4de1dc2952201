"""`auth account keys add`."""

from jsctl.auth.records import get_signing_key
from jsctl.auth.store import AuthStore
from tests.support.run import Cli


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
