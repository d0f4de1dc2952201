"""Subjects that the server selects, and wide streams: readers as Spark uses them, without a JVM."""

import asyncio
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.datasource import DataSourceReader

from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from tests.spark.datasource.test_planning import batch, read, sequences
from tests.support import js
from tests.support.servers import RealServer


def test_spark_says_nothing_of_columns() -> None:
    """Once it does, `count()` need not read payloads, and the manual need not explain `columns`."""
    names = {name for name in vars(DataSourceReader) if not name.startswith("_")}
    assert names == {"pushFilters", "partitions", "read"}


SUBJECTS = ["S.a", "S.b", "S.b.c", "S.b.d", "S.bb", "S.ab.c.d", "S.z"]


def mixed(url: str, count: int) -> list[dict[str, Any]]:
    """A stream of several subjects, with deletions; returns its rows."""
    js.stream(url, "S", "S.>", allow_direct=True)
    chosen = random.Random(5)
    js.publish_all(url, [(chosen.choice(SUBJECTS), b"%d" % n) for n in range(count)])
    for sequence in chosen.sample(range(2, count), count // 10):
        js.ask(url, "STREAM.MSG.DELETE.S", {"seq": sequence})
    reader = batch(url)
    return [row for part in reader.partitions() for rows in reader.read(part) for row in rows.to_pylist()]


def test_sequences_are_known_without_reading(url: str) -> None:
    rows = mixed(url, 400)
    reader = batch(url, columns="sequence,stream")
    partitions = reader.partitions()
    js.ask(url, "STREAM.PURGE.S")  # nothing is left to read
    assert sequences(read(reader, partitions)) == [row["sequence"] for row in rows]


@pytest.mark.slow
def test_a_subject_is_read_many_times_faster(url: str) -> None:
    js.stream(url, "S", "S.>", allow_direct=True)
    js.publish_all(url, ((f"S.{n % 100}", b"x" * 200) for n in range(50_000)))

    def seconds(work: Callable[[], Any], rows: int) -> float:
        best = 1e9
        for _ in range(3):
            begin = time.monotonic()
            assert len(work()) == rows
            best = min(best, time.monotonic() - begin)
        return best

    whole = seconds(lambda: read(batch(url)), 50_000)
    some = seconds(lambda: read(batch(url, subject="S.7")), 500)
    print(f"{whole / some:.0f} times faster")
    assert whole / some > 4  # the aim, 20, is for a million messages: see tests/bench/spark.py


# -- wide streams ---------------------------------------------------------------------------------

MEMORY = """
import resource, sys
import pyarrow.parquet, pyspark.sql.datasource
from jsctl.spark.source.batch_reader import JetStreamReader
from jsctl.spark.source.options import parse_read_options
options = {"servers": sys.argv[1], "stream": sys.argv[2], "includeHeaders": "true", "minPartitions": "2"}
reader = JetStreamReader(parse_read_options(options))
partitions = reader.partitions()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rows = sum(len(batch) for part in partitions for batch in reader.read(part))
print(rows, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("count", "head", "size", "most"),
    [(20, 0, 10 << 20, 150), (4000, 50_000, 10, 150), (100_000, 0, 10, 150)],
)
def test_memory_is_flat(tmp_path: Path, count: int, head: int, size: int, most: int) -> None:
    """200 MB of large payloads, 200 MB of headers, a thousand subjects. most: MiB."""
    own = RealServer(
        tmp_path, 'listen: "127.0.0.1:{port}"\nmax_payload: 16MB\njetstream { store_dir: "{store}" }\n'
    ).start()
    try:
        js.stream(own.url, "S", "S.>", allow_direct=True)
        block = b"NATS/1.0\r\nA: " + b"y" * head + b"\r\n\r\n" if head else b""
        _publish_many(own.url, count, block, b"x" * size)
        line = [sys.executable, "-c", MEMORY, own.url, "S"]
        done = subprocess.run(line, capture_output=True, text=True, check=True, timeout=100)
        rows, grown = map(int, done.stdout.split())
        assert rows == count
        assert grown < most, f"{grown} MiB"
    finally:
        own.stop()


def _publish_many(url: str, count: int, header_block: bytes, data: bytes) -> None:
    async def work() -> None:
        connection = await Connection.open(Settings(url=url))
        some = max(1, min(1000, (8 << 20) // (len(header_block) + len(data))))
        for at in range(0, count, some):
            numbers = range(at, min(at + some, count))
            subjects = [f"S.{number % 1000}" for number in numbers]
            await connection.send(
                b"".join(encode_publish(subject, data, "", header_block) for subject in subjects[:-1])
            )
            await connection.request(subjects[-1], data, timeout=30 * SECOND)
        await connection.close()

    asyncio.run(work())
