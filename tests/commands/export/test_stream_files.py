"""`jsctl export stream`: files that tasks write are as those that Spark writes; this process writes none."""

import json
import re
import stat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jsctl.spark.export import engines, layout, parts, table_files
from tests.commands.export.test_stream import fill, sequences
from tests.support import js
from tests.support.cases import sample
from tests.support.run import Cli

pytestmark = pytest.mark.spark


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few messages are many: they are read and written in parts of 20, some at once."""
    monkeypatch.setattr(layout, "TASK_MESSAGES", 20)
    monkeypatch.setattr(parts, "ROW_GROUP", 200)


def written(table: Path) -> list[Path]:
    return sorted(file for file in table.iterdir() if file.is_file())


def about(file: pq.ParquetFile) -> dict[bytes, Any]:
    """What Spark says in a file of its own."""
    return {
        key: json.loads(value) if value[:1] == b"{" else value
        for key, value in file.metadata.metadata.items()
    }


def without_times(checkpoint: Path) -> dict[str, Any]:
    content = json.loads(checkpoint.read_text())
    del content["written"]
    return content  # type: ignore[no-any-return]


@pytest.mark.parametrize("flags", sample(["--headers --subject ORDERS.>", ""], 2))
def test_parts_are_what_spark_writes(
    cli: Cli,
    url: str,
    spark: Any,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    flags: str,
) -> None:
    fill(url, 90)
    headers = b"NATS/1.0\r\nA: 1\r\na:\r\nA: \xff\r\n\r\n"
    js.publish_framed(url, "ORDERS.odd", headers, b"")
    js.publish(url, "ORDERS.odd", b"\x00\xff" * 3000)
    js.wait_until_stored(url, "ORDERS", 92)
    for sequence in (1, 50):
        js.ask(url, "STREAM.MSG.DELETE.ORDERS", {"seq": sequence})
    line = f"export stream ORDERS {flags} --json --to"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "has_parquet_settings", lambda _: True)
        by_spark = cli(f"{line} {tmp_path / 'spark'}", status=0).json
    request.getfixturevalue("in_parts")
    in_parts = cli(f"{line} {tmp_path / 'parts'} --verify", status=0).json
    for result in (by_spark, in_parts):
        for timed in (result, *result["streams"]):
            timed.pop("seconds", None), timed.pop("verified", None), timed.pop("to", None)
    assert in_parts == by_spark
    spark_file, *_ = written(tmp_path / "spark" / "ORDERS")
    files = written(tmp_path / "parts" / "ORDERS")
    assert len(files) > 2
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {stat.S_IMODE(spark_file.stat().st_mode)}
    shape = re.compile(r"part-\d{5}-[0-9a-f-]{36}-c000\.snappy\.parquet")
    assert all(shape.fullmatch(file.name) for file in (spark_file, *files))
    theirs = pq.ParquetFile(spark_file)
    for ours in map(pq.ParquetFile, files):
        assert ours.schema_arrow == theirs.schema_arrow
        for at in range(len(ours.schema)):
            assert str(ours.schema.column(at)) == str(theirs.schema.column(at))
            column = ours.metadata.row_group(0).column(at)
            assert column.compression == theirs.metadata.row_group(0).column(at).compression
            assert column.has_column_index and column.has_offset_index
        assert about(ours) == about(theirs)
    tables: list[pa.Table] = []
    for name in ("spark", "parts"):
        frame = spark.read.parquet(str(tmp_path / name / "ORDERS"))
        tables.append(frame.sort("sequence").toArrow())
    assert tables[0] == tables[1]
    checkpoints = [
        without_times(tmp_path / name / "_checkpoints" / "ORDERS.json") for name in ("spark", "parts")
    ]
    assert checkpoints[0] == checkpoints[1]


def test_parts_without_messages(
    cli: Cli, url: str, spark: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    request.getfixturevalue("in_parts")
    to = tmp_path / "out"
    empty = cli(f"export stream ORDERS --to {to} --incremental --json", status=0).json
    assert (empty["exported"], empty["streams"][0]["first"]) == (0, None)
    assert spark.read.parquet(str(to / "ORDERS")).count() == 0
    fill(url, 50)
    assert cli(f"export stream ORDERS --to {to} --incremental --json", status=0).json["exported"] == 50
    js.ask(url, "STREAM.MSG.DELETE.ORDERS", {"seq": 50})
    failed = cli(f"export stream ORDERS --to {to} --fail-on-deleted --force", status=1)
    assert "1 message of ORDERS was deleted" in failed.err
    assert sequences(to / "ORDERS") == list(range(1, 51))
    assert not (to / ".staging").exists()


def test_settings_for_files_are_for_spark(spark: Any) -> None:
    session = spark.newSession()
    assert not table_files.has_parquet_settings(session)
    session.conf.set("spark.sql.parquet.compression.codec", "zstd")
    assert table_files.has_parquet_settings(session)
