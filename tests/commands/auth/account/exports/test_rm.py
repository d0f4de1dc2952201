"""`auth account exports rm`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_rm(shop: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account exports add orders 'orders.>' ORDERS", status=0)
    auth_cli("auth account imports add orders 'orders.>' SHOP --source ORDERS", status=0)
    remove = "auth account exports rm 'orders.>' ORDERS"
    assert "Would remove the export orders.> of ORDERS" in auth_cli(f"{remove} --dry-run", status=0).out
    assert "use --force" in auth_cli(remove, status=64).err
    assert shop.read_account("ORDERS").nats["exports"]
    removed = auth_cli(f"{remove} --force --json", status=0).json
    assert removed == {"account": "ORDERS", "removed": "orders.>", "importers": ["SHOP"]}
    assert "does not export orders.>" in auth_cli(f"{remove} --force", status=3).err
