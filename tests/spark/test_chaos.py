"""Nothing lost, nothing twice: queries in Spark while processes are killed and leaders move.

`JSCTL_CHAOS=30 pytest -n0 -s tests/spark/test_chaos.py` is the long form, with 30 kills or more;
JSCTL_CHAOS_SEED does one again.
"""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jsctl.errors import JsctlError
from jsctl.spark.export.stream_target import read_checkpoint
from tests.support import chaos, js, spark_home
from tests.support.chaos import KILLS, Publisher, Torment, Victim
from tests.support.servers import Cluster
from tests.support.waiting import wait_for

KILLED = int(os.environ.get("JSCTL_CHAOS", "0"))
SEED = int(os.environ.get("JSCTL_CHAOS_SEED") or random.randrange(1 << 32))

# What happens in the short form, and what happens repeatedly in the long one.
QUERY = ("driver", "executor", "server", "leader")
QUERY_LONG = (*QUERY, *QUERY[1:], "worker", "worker", "server", "restart", "leader")
EXPORT = ("driver", "server", "leader")
EXPORT_LONG = (*EXPORT, "driver", "restart")

pytestmark = [pytest.mark.cluster, pytest.mark.spark, pytest.mark.timeout(400 + 120 * KILLED)]


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is killed cleans up nothing, and knows no context."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    three = Cluster(tmp_path / "servers")
    try:
        yield three.start()
    finally:
        three.stop()


@pytest.fixture
def publisher(cluster: Cluster) -> Iterator[Publisher]:
    """Writes into a stream on all three servers, all the time."""
    config: dict[str, Any] = {"num_replicas": 3, "allow_direct": True}

    def created() -> bool:
        try:
            js.stream(cluster.url, chaos.STREAM, f"{chaos.STREAM}.>", **config)
        except JsctlError:
            return False
        return True

    wait_for(created, "no stream", 30)
    thread = Publisher(cluster.url, rate=150)
    thread.start()
    try:
        yield thread
    finally:
        thread.stop()


def troubles(short: tuple[str, ...], long: tuple[str, ...]) -> tuple[str, ...]:
    """The short form, or the long one so often that as many are kills as JSCTL_CHAOS says."""
    return long * -(-KILLED // sum(kind in KILLS for kind in long)) if KILLED else short


def check(table: pa.Table, publisher: Publisher, cluster: Cluster) -> None:
    """The table holds every sequence of the stream once, with what was published at it."""
    last = js.info(cluster.url, chaos.STREAM)["state"]["last_seq"]
    acked = publisher.acked
    assert sorted(acked) == list(range(1, last + 1)), "the servers lost or repeated messages themselves"
    rows = sorted(zip(*(table[name].to_pylist() for name in ("sequence", "subject", "data")), strict=True))
    assert [row[0] for row in rows] == list(range(1, last + 1))
    for sequence, subject, data in rows:
        number = acked[sequence]
        assert (subject, data) == (chaos.subject(number), chaos.payload(number)), sequence


def suffer(
    victim: Victim, cluster: Cluster, publisher: Publisher, kinds: tuple[str, ...], pause: float
) -> None:
    """Run the victim through all the trouble, and end it and the publisher."""
    begin = time.monotonic()
    print(f"\nseed {SEED}")
    torment = Torment(SEED, cluster, victim)
    victim.start()
    try:
        torment.run(kinds, pause)
    finally:
        victim.kill()
        report(torment, publisher, begin)
    publisher.stop()


def report(torment: Torment, publisher: Publisher, begin: float) -> None:
    kills = sum(count for kind, count in torment.done.items() if kind in KILLS)
    print(
        f"seed {SEED}: {kills} kills, {dict(torment.done)}, {len(publisher.acked):,} messages"
        f" ({publisher.again:,} publishes again), {time.monotonic() - begin:.0f} s",
        flush=True,
    )


@pytest.mark.long
@pytest.mark.parametrize("mode", ["auto", "consumer"] if KILLED else ["auto"])
def test_a_streaming_query(cluster: Cluster, publisher: Publisher, tmp_path: Path, mode: str) -> None:
    spark_home.require_whole_java()
    begin = time.monotonic()
    options = {
        "servers": cluster.url,
        "stream": chaos.STREAM,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": "1000",
        "minPartitions": "3",
        "batchSize": "50",
        "fetchMode": mode,
    }
    folder = tmp_path / "query"
    program = [sys.executable, "-m", "tests.support.streaming_query", str(folder)]

    def batches() -> int:
        return len(list((folder / "checkpoint" / "commits").glob("[0-9]*")))

    victim = Victim([*program, json.dumps(options)], tmp_path / "query.log", batches)
    suffer(victim, cluster, publisher, troubles(QUERY, QUERY_LONG), pause=6 if KILLED else 2)
    options["maxOffsetsPerTrigger"] = "20000"
    under_torment = batches()
    read = tmp_path / "read.parquet"
    done = subprocess.run(
        [*program, json.dumps(options), str(read)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-5000:]
    print(f"{under_torment} batches under torment, {time.monotonic() - begin:.0f} s in all")
    check(pq.read_table(read), publisher, cluster)


@pytest.mark.long
def test_an_incremental_export(cluster: Cluster, publisher: Publisher, tmp_path: Path) -> None:
    begin = time.monotonic()
    to = tmp_path / "out"
    line = [
        sys.executable,
        "-m",
        "jsctl",
        "export",
        "stream",
        chaos.STREAM,
        "--to",
        str(to),
        "--incremental",
        "--server",
        cluster.url,
    ]

    def exported() -> int:
        checkpoint = read_checkpoint(to, chaos.STREAM)
        return int(checkpoint["next"]) if checkpoint else 0

    victim = Victim(line, tmp_path / "export.log", exported)
    suffer(victim, cluster, publisher, troubles(EXPORT, EXPORT_LONG), pause=12 if KILLED else 4)
    under_torment = exported()
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    print(f"sequence {under_torment - 1} under torment, {time.monotonic() - begin:.0f} s in all")
    check(pq.read_table(to / chaos.STREAM), publisher, cluster)
