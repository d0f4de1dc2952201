"""`auth account mappings ls`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_ls(acme: AuthStore, auth_cli: Cli) -> None:
    assert auth_cli("auth account mappings ls ORDERS --json", status=0).json == []
    auth_cli("auth account mappings add ORDERS a.b c.d 30", status=0)
    (row,) = auth_cli("auth account mappings ls ORDERS --json", status=0).json
    assert (row["source"], row["weight"]) == ("a.b", 30)
    rows = auth_cli("auth account mappings ls ORDERS", status=0).out.splitlines()[2:]
    assert [line.split() for line in rows if line] == [["a.b", "c.d", "30%"]]
    assert "there is no account 'NOPE'" in auth_cli("auth account mappings ls NOPE", status=3).err
