"""`jsctl account report` and its commands."""

import re
from pathlib import Path

import pytest

from tests.support.run import Cli
from tests.support.servers import HubLeaf
from tests.support.tables import find_wide


@pytest.mark.slow
def test_connections(cli: Cli) -> None:
    (row,) = cli("account report connections --json", status=0).json
    assert row["server"]["name"] == "test-server" and row["kind"] == "Client" and row["lang"] == "python3"
    shown = cli("a rep conns -R --sort uptime", tty=True, status=0).out
    assert re.search(r"Top \d Connections out of \d by uptime", shown)
    assert cli("account report connections --username nobody --json", status=0).json == []
    closed = cli("account report connections --state closed --json", status=0).json
    assert closed and all(row["reason"] == "Client Closed" for row in closed)
    assert cli("account report connections --closed-reason 'no such' --json", status=0).json == []


def test_the_system_account_sees_all(tmp_path: Path, hub_leaf: HubLeaf) -> None:
    system = Cli(tmp_path / "system", hub_leaf.system_url)
    rows = system("account report connections --json", status=0).json
    assert {"ACC", "SYS"} <= {row["account"] for row in rows}
    assert {row["server"]["name"] for row in rows} == {"hub-server", "leaf-server"}


def test_statistics(cli: Cli) -> None:
    (row,) = cli("account report statistics --json", status=0).json
    assert row["server"] == "test-server" and row["connections"] == 1 and row["tags"] == ""
    shown = cli("a rep statsz", tty=True, width=80, status=0).out
    assert "Server Statistics" in shown and "Tags" not in shown
    assert find_wide(shown, 80) == []
    assert "100ms" in cli("account report statistics --watch 1ms", status=64).err
