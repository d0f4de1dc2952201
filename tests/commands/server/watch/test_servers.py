"""`server watch servers`."""

import json

from tests.support.run import Cli


def test_servers(system: Cli) -> None:
    first, second = map(
        json.loads, system("server watch servers --count 2 --every 100ms --json", status=0).out.splitlines()
    )
    assert {row["server"] for row in first} == {"hub-server", "leaf-server"}
    assert all(row["sent_rate"] == 0 for row in first) and any(row["sent_rate"] > 0 for row in second)
    shown = system("server watch srv --sort name -n 1 --count 1", status=0).out
    assert "Servers: 1 of 2" in shown and "hub-server" in shown and "leaf-server" not in shown
