"""`auth account callout`."""

from jsctl.auth.keys import create_key
from jsctl.auth.store import AuthStore
from tests.support.run import Cli


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
