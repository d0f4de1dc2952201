"""`account report statistics` without the system account."""

from tests.support.run import Cli
from tests.support.tables import find_wide


def test_statistics(cli: Cli) -> None:
    (row,) = cli("account report statistics --json", status=0).json
    assert row["server"] == "test-server" and row["connections"] == 1 and row["tags"] == ""
    shown = cli("a rep statsz", tty=True, width=80, status=0).out
    assert "Server Statistics" in shown and "Tags" not in shown
    assert find_wide(shown, 80) == []
    assert "100ms" in cli("account report statistics --watch 1ms", status=64).err
