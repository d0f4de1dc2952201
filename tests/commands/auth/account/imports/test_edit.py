"""`auth account imports edit`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_edit(shop: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account exports add orders 'orders.>' ORDERS", status=0)
    auth_cli("auth account imports add orders 'orders.>' SHOP --source ORDERS", status=0)
    edit = "auth account imports edit 'orders.>' SHOP"
    assert auth_cli(f"{edit} --local 'a.*.>'", status=64).err
    imported = auth_cli(f"{edit} --local 'x.>' --json", status=0).json
    assert (imported["subject"], imported["local_subject"]) == ("orders.>", "x.>")
    assert shop.read_account("SHOP").nats["imports"] == [imported]
    assert "no import at a.b" in auth_cli("auth account imports edit a.b SHOP --local c", status=3).err
