"""`account report statistics` without the system account."""

import re

from tests.support.run import Cli


def test_statistics(cli: Cli) -> None:
    (row,) = cli("account report statistics --json", status=0).json
    assert row["server"] == "test-server" and row["connections"] == 1 and row["tags"] == ""
    shown = cli("a rep statsz", tty=True, width=80, status=0).out
    assert "Server Statistics" in shown and "Tags" not in shown
    assert all(len(re.sub(r"\x1b\[\d+m", "", line)) <= 80 for line in shown.splitlines())
    assert "100ms" in cli("account report statistics --watch 1ms", status=64).err
