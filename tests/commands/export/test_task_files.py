"""Parquet that tasks write equals what Spark writes: rows, columns, partitions, descriptions of files."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from jsctl.spark.export import engines, parts
from tests.support import js
from tests.support.run import Cli

pytestmark = pytest.mark.spark

PAYLOADS = [
    b'{"id": 1, "price": 1.25, "at": "2026-11-21T06:00:00Z", "tags": ["a", "b"], "who": {"name": "x"}}',
    b'{"id": 2, "price": -0.5, "tags": [], "who": null, "sums": {"a": 1}}',
    b'{"id": null}',
    b"no json",
    b"\xff\xfe",
    b"",
]
SCHEMA = (
    "id BIGINT, price DECIMAL(9,2), big DECIMAL(30,3), at TIMESTAMP, day DATE, tags ARRAY<STRING>,"
    " who STRUCT<name: STRING, age: INT>, sums MAP<STRING, BIGINT>, small SMALLINT, ratio FLOAT, ok BOOLEAN"
)


@pytest.mark.parametrize(
    "flags",
    [
        "--partition-by hour --partition-by subject:2 --headers",
        f"--decode json --schema '{SCHEMA}' --keep-data",
        *(
            pytest.param(flags, marks=pytest.mark.long)
            for flags in (
                "",
                "--partition-by date",
                "--partition-by subject:3",
                f"--decode json --schema '{SCHEMA}' --partition-by subject:2",
                "--decode json",
                "--decode text --partition-by date",
                "--decode base64",
                "--decompress auto --headers",
            )
        ),
    ],
)
def test_equals_what_spark_writes(
    cli: Cli, url: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str
) -> None:
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    subjects = ["ORDERS.a", "ORDERS.b.x=1", "ORDERS.ü%/:.y", "ORDERS.a.{z}"]
    messages = [(subjects[n % 4], PAYLOADS[n % len(PAYLOADS)]) for n in range(48)]
    js.publish_all(url, messages)
    js.wait_until_stored(url, "ORDERS", 48)
    tables = []
    for name, forced in (("tasks", False), ("spark", True)):
        monkeypatch.setattr(engines, "has_parquet_settings", lambda _, forced=forced: forced)
        line = f"export stream ORDERS --to {tmp_path / name} {flags} --incremental --json"
        done = cli(f"{line} --to-seq 20 --verify", status=0).json["streams"][0]
        again = cli(f"{line} --verify", status=0).json["streams"][0]
        tables.append(([done, again], tmp_path / name / "ORDERS"))
    (counts, ours), (expected_counts, theirs) = tables
    for count in (*counts, *expected_counts):
        del count["seconds"]
    assert counts == expected_counts
    read = [spark.read.parquet(str(folder)).orderBy("sequence") for folder in (ours, theirs)]
    assert read[0].schema == read[1].schema
    assert read[0].toArrow().to_pylist() == read[1].toArrow().to_pylist()
    assert partitions(ours) == partitions(theirs)
    first, second = (next(folder.rglob("part-00000*.parquet")) for folder in (ours, theirs))
    assert first.name[10 + 37 :] == second.name[10 + 37 :]
    described, by_spark = (pq.ParquetFile(file) for file in (first, second))
    assert str(described.schema).splitlines()[2:] == str(by_spark.schema).splitlines()[2:]
    assert statistics(ours) == statistics(theirs)
    assert described.metadata.format_version == "2.6"
    key = b"org.apache.spark.sql.parquet.row.metadata"
    assert json.loads(described.metadata.metadata[key]) == json.loads(by_spark.metadata.metadata[key])


def statistics(folder: Path) -> list[str]:
    """What readers skip the first row group of each file by."""
    found = []
    for file in folder.rglob("*.parquet"):
        group = pq.read_metadata(file).row_group(0)
        columns = [group.column(number) for number in range(group.num_columns)]
        parts = [(column.path_in_schema, column.statistics) for column in columns]
        bounds = [
            (path, part and (part.null_count, part.has_min_max and (part.min_raw, part.max_raw)))
            for path, part in parts
        ]
        found.append(repr(bounds))
    return sorted(found)


def partitions(folder: Path) -> set[str]:
    return {str(file.parent.relative_to(folder)) for file in folder.rglob("*.parquet")}


def test_partitions_when_memory_is_full(
    cli: Cli, url: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "PARTITIONED", 1)
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    js.publish_all(url, [(f"ORDERS.{n % 3}", b"%d" % n) for n in range(20_000)])
    js.wait_until_stored(url, "ORDERS", 20_000)
    cli(f"export stream ORDERS --to {tmp_path / 'x'} --partition-by subject:2 --verify", status=0)
    assert len(partitions(tmp_path / "x" / "ORDERS")) == 3
    assert len(list((tmp_path / "x").rglob("*.parquet"))) > 3
