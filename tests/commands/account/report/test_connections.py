"""`account report connections` without the system account."""

import re

import pytest

from tests.support.run import Cli

pytestmark = pytest.mark.slow


def test_connections(cli: Cli) -> None:
    (row,) = cli("account report connections --json", status=0).json
    assert row["server"] == "test-server" and row["kind"] == "Client" and row["lang"] == "python3"
    shown = cli("a rep conns -R --sort uptime", tty=True, status=0).out
    assert re.search(r"Top \d Connections out of \d by uptime", shown)
    assert cli("account report connections --username nobody --json", status=0).json == []
    closed = cli("account report connections --state closed --json", status=0).json
    assert closed and all(row["reason"] == "Client Closed" for row in closed)
    assert cli("account report connections --closed-reason 'no such' --json", status=0).json == []
