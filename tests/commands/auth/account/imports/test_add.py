"""`auth account imports add`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_an_import_that_nobody_exports_is_reported(shop: AuthStore, auth_cli: Cli) -> None:
    added = auth_cli("auth account imports add x a.b SHOP --source ORDERS", status=0)
    assert "does not export a.b as a stream" in added.err
    assert "already" in auth_cli("auth account imports add y a.b SHOP --source ORDERS", status=64).err
