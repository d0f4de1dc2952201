"""`auth account imports info`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_info(shop: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account exports add orders 'orders.>' ORDERS", status=0)
    auth_cli("auth account imports add orders 'orders.>' SHOP --source ORDERS", status=0)
    shown = auth_cli("auth account imports info 'orders.>' SHOP", status=0).out
    assert shown.startswith("Import orders.> of Account SHOP\n") and "From Account: ORDERS (A" in shown
    (imported,) = shop.read_account("SHOP").nats["imports"]
    assert auth_cli("auth account imports info 'orders.>' SHOP --json", status=0).json == imported
    assert "no import at a.b" in auth_cli("auth account imports info a.b SHOP", status=3).err
