"""What people see while an export runs: that Spark starts, and messages as tasks read them."""

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jsctl.commands.export.display import ExportDisplay
from jsctl.spark.session import task_progress
from tests.commands.export.test_stream import fill
from tests.support import js
from tests.support.run import Cli

pytestmark = pytest.mark.spark


@pytest.fixture
def shares(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[float]]:
    """The shares that bars show, by their labels."""
    found: dict[str, list[float]] = {}

    @contextlib.contextmanager
    def progress(_: Any, label: str, messages: int, size: int) -> Iterator[Callable[[float], None]]:
        assert messages == 60_000 and size
        yield found.setdefault(label, []).append

    monkeypatch.setattr(ExportDisplay, "progress", progress)
    monkeypatch.setattr(task_progress, "_INTERVAL", 0.01)
    return found


@pytest.mark.parametrize("flags", ["", "--format json --decode json"])
def test_messages_are_counted_within_a_task(
    cli: Cli, url: str, spark: Any, tmp_path: Path, shares: dict[str, list[float]], flags: str
) -> None:
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    js.publish_all(url, ((f"ORDERS.{n % 3}", b'{"id": 1}') for n in range(60_000)))
    js.wait_until_stored(url, "ORDERS", 60_000)
    cli(f"export stream ORDERS --to {tmp_path}/out --file-size 1GB {flags}", status=0)
    assert shares.keys() == {"exporting ORDERS"} | ({"finding the fields of ORDERS"} if flags else set())
    for counted in shares.values():
        assert counted == sorted(counted) and counted[0] == 0
        assert len([share for share in counted if 0 < share < 1]) > 3, counted


def test_that_spark_starts_is_shown(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    fill(url, 10)
    screen = cli.terminal(f"export stream ORDERS --to {tmp_path}/out --from-seq 3", columns=90)
    screen.timeout = 120
    try:
        screen.expect_exact("Starting Spark")
        screen.expect_exact("\x1b[2K")  # erased before the next
        screen.expect_exact("exported 8 messages")
        screen.wait()
    finally:
        screen.close(force=True)
    assert screen.exitstatus == 0
    quiet = cli(f"export stream ORDERS --to {tmp_path}/two", status=0)
    assert "Starting" not in quiet.out + quiet.err


SHOWN = """
import sys
from jsctl.spark.session.session import SessionOptions

def starting(self):
    print({"asyncio", "numpy", "pyarrow", "pyspark"} & set(sys.modules))
    sys.exit(0)

SessionOptions.starting = starting
from jsctl.app import main
sys.argv = ["jsctl", "export", "stream", "ORDERS", "--to", "out", "--server", "127.0.0.1:1"]
main()
"""


def test_it_is_shown_before_what_takes_long_to_import(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SHOWN], check=False, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == "set()\n", done
