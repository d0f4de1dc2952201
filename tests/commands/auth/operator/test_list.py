"""`auth operator list`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli
from tests.support.tables import read_table


def test_list(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth operator add OTHER", status=0)
    auth_cli("auth operator select OTHER", status=0)
    rows = auth_cli("auth operator list --json", status=0).json
    assert [(row["name"], row["accounts"]) for row in rows] == [("ACME", 2), ("OTHER", 1)]
    shown = read_table(auth_cli("auth operator ls", status=0).out)
    assert [row["Name"] for row in shown] == ["ACME", "OTHER*"], "the selected one is marked"
    assert "unexpected" in auth_cli("auth operator list ACME", status=64).err.lower()
