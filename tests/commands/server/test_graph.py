"""`server graph` on a real server."""

import json

from tests.support import js
from tests.support.run import Cli


def test_samples(cli: Cli, url: str, system_url: str) -> None:
    js.stream(url, "ORDERS", "ORDERS.>")
    line = f"server graph test-server --server {system_url} --every 100ms --count 2"
    first, second = map(json.loads, cli(f"{line} --json", status=0).out.splitlines())
    assert first["server"] == "test-server" and first["msgs_rate"] == 0
    assert second["connections"] > 0 and second["msgs_rate"] > 0 and second["cores"] > 0
    head, *rows = cli(line, status=0).out.splitlines()
    assert "Msgs/s" in head and len(rows) == 2
    head, *rows = cli(f"{line} -j", status=0).out.splitlines()
    assert "API/s" in head and len(rows) == 2


def test_charts(cli: Cli, system_url: str) -> None:
    line = f"server graph test-server --server {system_url} --every 100ms --count 2"
    shown = cli(line, tty=True, status=0).out
    assert "Server Statistics for test-server" in shown and "Connections" in shown
    shown = cli(f"{line} --jetstream", tty=True, status=0).out
    assert "JetStream Statistics for test-server" in shown and "HA Assets" in shown


def test_a_similar_server_is_suggested(cli: Cli, system_url: str) -> None:
    outcome = cli(f"server graph test-serve --count 1 --server {system_url}", status=3)
    assert "did you mean test-server?" in outcome.err
    assert "system account" in cli("server graph test-server --count 1 --timeout 1s", status=5).err
