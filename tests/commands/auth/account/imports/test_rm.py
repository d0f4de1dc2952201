"""`auth account imports rm`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_rm(shop: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account exports add orders 'orders.>' ORDERS", status=0)
    auth_cli("auth account imports add orders 'orders.>' SHOP --source ORDERS", status=0)
    remove = "auth account imports rm 'orders.>' SHOP"
    assert "use --force" in auth_cli(remove, status=64).err
    assert "Would remove the import orders.> of SHOP" in auth_cli(f"{remove} --dry-run", status=0).out
    assert auth_cli(f"{remove} --force --json", status=0).json == {"account": "SHOP", "removed": "orders.>"}
    assert "imports" not in shop.read_account("SHOP").nats
    assert "no import at orders.>" in auth_cli(f"{remove} --force", status=3).err
