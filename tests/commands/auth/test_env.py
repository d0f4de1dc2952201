"""`auth env`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_env(acme: AuthStore, auth_cli: Cli) -> None:
    used = auth_cli("auth env --json", status=0).json
    assert used["operator"] == {"value": "ACME", "by": "the only one"}
    assert used["stores"] == {"value": str(acme.folders.stores), "by": "by default"}
    auth_cli("auth operator add OTHER", status=0)
    auth_cli("auth operator select OTHER", status=0)
    assert "Operator: OTHER" in auth_cli("auth env", status=0).out
    assert "unexpected" in auth_cli("auth env OTHER", status=64).err
