"""`jsctl export stream --engine arrow`: the same files as Spark's tasks write, without Spark."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from tests.commands.export.test_stream import fill, sequences
from tests.commands.export.test_stream_stopped import start
from tests.support.processes import in_session
from tests.support.run import Cli
from tests.support.waiting import wait_for

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    "flags",
    [
        "--headers --partition-by hour --partition-by subject:2",
        pytest.param("--decode json --schema 'id BIGINT' --keep-data", marks=pytest.mark.long),
        pytest.param("", marks=pytest.mark.long),
    ],
)
def test_writes_what_spark_writes(cli: Cli, url: str, spark: Any, tmp_path: Path, flags: str) -> None:
    fill(url, 3000)
    counts, tables = {}, {}
    for engine in ("arrow", "spark"):
        line = f"export stream ORDERS --to {tmp_path / engine} --engine {engine} --incremental --json {flags}"
        environ = {"JAVA_HOME": "/nonexistent"} if engine == "arrow" else {}
        counts[engine] = [
            cli(f"{line} {end}", status=0, environ=environ).json["streams"][0]
            for end in ("--to-seq 1000", "")
        ]
        for count in counts[engine]:
            del count["seconds"]
        tables[engine] = tmp_path / engine / "ORDERS"
    assert counts["arrow"] == counts["spark"]
    rows = {name: ds.dataset(table).to_table().sort_by("sequence") for name, table in tables.items()}
    assert rows["arrow"].equals(rows["spark"])
    described = {name: _describe(table) for name, table in tables.items()}
    assert described["arrow"] == described["spark"]
    # Each continues what the other has begun.
    line = f"export stream ORDERS --incremental --json {flags}"
    assert cli(f"{line} --to {tmp_path / 'arrow'} --verify", status=0).json["streams"][0]["exported"] == 0
    done = cli(f"{line} --to {tmp_path / 'spark'} --engine arrow", status=0)
    assert done.json["streams"][0]["exported"] == 0


def _describe(table: Path) -> list[Any]:
    checkpoint = json.loads((table.parent / "_checkpoints" / "ORDERS.json").read_text())
    del checkpoint["written"]
    described = [
        (file.name[:10], file.parent.name, pq.read_metadata(file)) for file in table.rglob("*.parquet")
    ]
    return [checkpoint, sorted((*names, read.num_rows, repr(read.metadata)) for *names, read in described)]


def test_killed_and_again(cli: Cli, url: str, tmp_path: Path) -> None:
    fill(url, 26_000)  # more than what one process reads and hands over
    to = tmp_path / "out"
    process = start(cli, "ORDERS", "--to", str(to), "--engine", "arrow")
    try:
        wait_for(lambda: any(to.glob(".staging/*/ORDERS")), "nothing was staged", 60)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        wait_for(lambda: not in_session(process.pid), "a process is left")
    finally:
        process.kill()
    cli(f"export stream ORDERS --to {to} --incremental --engine arrow", status=0)
    assert sequences(to / "ORDERS") == list(range(1, 26_001))
    assert not (to / ".staging").exists()


def test_interrupted_leaves_nothing(cli: Cli, url: str, tmp_path: Path) -> None:
    fill(url, 26_000)
    to = tmp_path / "out"
    process = start(cli, "ORDERS", "--to", str(to), "--engine", "arrow", "--partition-by", "subject:1")
    try:
        wait_for(lambda: any(to.glob(".staging/*/ORDERS")), "nothing was staged", 60)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode in (0, 130), err
    assert (process.returncode == 130) == (not to.exists())
    assert b"Traceback" not in err
    wait_for(lambda: not in_session(process.pid), "a process is left")


@pytest.mark.parametrize(
    "flags",
    [
        "--format csv",
        "--decode json",
        "--decode variant",
        "--query 'SELECT 1'",
        "--verify",
        "--backfill --from-seq 1",
        "--conf a=b",
        "--master local[2]",
    ],
)
def test_what_needs_spark_is_refused(cli: Cli, url: str, tmp_path: Path, flags: str) -> None:
    fill(url, 1)
    refused = cli(f"export stream ORDERS --to {tmp_path / 'out'} --engine arrow {flags}", status=64)
    assert flags.split()[0] in refused.err and "leave --engine out" in refused.err
    assert not (tmp_path / "out").exists()


def test_its_tasks_lack_nothing_but_pandas(cli: Cli, url: str, tmp_path: Path) -> None:
    """A message that was deleted while it was planned, an empty stream, and subjects that match nothing."""
    fill(url, 10)
    to = tmp_path / "out"
    line = f"export stream ORDERS --to {to} --engine arrow --json --force"
    assert cli(f"{line} --subject none.x", status=0).json["streams"][0]["exported"] == 0
    assert ds.dataset(to / "ORDERS").to_table().num_rows == 0
    cli("stream rmm ORDERS 5 --force", status=0)
    assert cli(line, status=0).json["streams"][0]["deleted"] == 1
    assert sequences(to / "ORDERS") == [1, 2, 3, 4, 6, 7, 8, 9, 10]
