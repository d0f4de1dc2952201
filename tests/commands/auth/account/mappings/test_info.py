"""`auth account mappings info`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_info(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account mappings add ORDERS a.b c.d 30", status=0)
    assert "c.d: 30%" in auth_cli("auth account mappings info ORDERS a.b", status=0).out
    assert auth_cli("auth account mappings info ORDERS a.b --json", status=0).json == {
        "a.b": [{"subject": "c.d", "weight": 30, "Subject": "c.d", "Weight": 30, "Cluster": ""}]
    }
    assert "has no mapping of a" in auth_cli("auth account mappings info ORDERS a", status=3).err
