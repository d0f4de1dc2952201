"""`object edit`."""

from pathlib import Path

from tests.support import js
from tests.support.run import Cli


def test_edit(files: Path, cli: Cli, url: str) -> None:
    shown = cli("object edit FILES --ttl 1h --dry-run", status=2).out
    assert ["ttl", "0s", "1h0m0s"] in [line.split() for line in shown.splitlines()]
    declined = cli("object edit FILES --ttl 1h", answers=[False], status=0)
    assert declined.asked and js.info(url, "OBJ_FILES")["config"]["max_age"] == 0
    changed = cli("object edit FILES --ttl 1h --force --json", status=0).json
    assert changed["config"]["max_age"] == js.info(url, "OBJ_FILES")["config"]["max_age"] == 3600 * 10**9
    cli("object edit FILES --ttl 2h", status=0)  # a script of nats, which has no --force
    assert js.info(url, "OBJ_FILES")["config"]["max_age"] == 2 * 3600 * 10**9
    assert "there is nothing to change" in cli("object edit FILES", status=64).err
