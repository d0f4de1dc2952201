"""`server report health`."""

from tests.support.run import Cli
from tests.support.servers import HubLeaf
from tests.support.tables import find_wide, read_table
from tests.support.waiting import wait_until

# A busy server may not be ready within the millisecond that monitor.go gives it; nor is one that still has
# the folder of a deleted stream.


def test_health(system: Cli) -> None:
    rows = wait_until(
        lambda: system("server report health --json", status=0).json,
        lambda rows: {row["status"] for row in rows} == {"ok"},
    )
    assert {(row["server"], row["domain"]) for row in rows} == {
        ("hub-server", "hub"),
        ("leaf-server", "leaf"),
    }
    wait_until(lambda: system("server report health", status=0).out, lambda shown: "ok: 2 / err: 0" in shown)
    assert "100ms" in system("server report health --watch 1ms", status=64).err


def test_an_error_is_shown_in_80_columns(system: Cli, hub_leaf: HubLeaf) -> None:
    folder = hub_leaf.hub.folder / "hub" / "jetstream" / "ACC" / "streams" / "GHOST"
    folder.mkdir(parents=True)
    try:
        shown = system("server report health", tty=True, width=80, status=0).out
    finally:
        folder.rmdir()
    assert "GHOST" in shown and "error (503)" in [row["Status"] for row in read_table(shown)]
    assert find_wide(shown, 80) == []
