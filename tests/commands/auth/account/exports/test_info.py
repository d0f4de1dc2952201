"""`auth account exports info`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_info(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account exports add orders 'orders.>' ORDERS", status=0)
    shown = auth_cli("auth account exports info 'orders.>' ORDERS", status=0).out
    assert shown.startswith("Export orders.> of Account ORDERS\n") and "Kind: stream" in shown
    (export,) = acme.read_account("ORDERS").nats["exports"]
    assert auth_cli("auth account exports info 'orders.>' ORDERS --json", status=0).json == export
    assert "does not export a.b" in auth_cli("auth account exports info a.b ORDERS", status=3).err
