"""`auth account imports ls`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli
from tests.support.tables import read_table


def test_ls(shop: AuthStore, auth_cli: Cli) -> None:
    assert auth_cli("auth account imports ls SHOP --json", status=0).json == []
    auth_cli("auth account exports add orders 'orders.>' ORDERS", status=0)
    auth_cli("auth account imports add orders 'orders.>' SHOP --source ORDERS", status=0)
    (row,) = auth_cli("auth account imports ls SHOP --json", status=0).json
    assert (row["name"], row["kind"], row["local_subject"]) == ("orders", "stream", "orders.>")
    assert row["source"] == shop.read_account("ORDERS").public
    [shown] = read_table(auth_cli("auth account imports ls SHOP", status=0).out)
    assert shown["Source"] == "ORDERS"
    assert "there is no account 'NOPE'" in auth_cli("auth account imports ls NOPE", status=3).err
