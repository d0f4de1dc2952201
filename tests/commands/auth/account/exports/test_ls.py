"""`auth account exports ls`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_ls(shop: AuthStore, auth_cli: Cli) -> None:
    assert auth_cli("auth account exports ls ORDERS --json", status=0).json == []
    auth_cli("auth account exports add orders 'orders.>' ORDERS", status=0)
    auth_cli("auth account imports add orders 'orders.>' SHOP --source ORDERS", status=0)
    (row,) = auth_cli("auth account exports ls ORDERS --json", status=0).json
    assert (row["name"], row["kind"], row["subject"]) == ("orders", "stream", "orders.>")
    assert row["importers"] == ["SHOP"]
    assert "orders.>" in auth_cli("auth account exports ls ORDERS", status=0).out
    assert "there is no account 'NOPE'" in auth_cli("auth account exports ls NOPE", status=3).err
