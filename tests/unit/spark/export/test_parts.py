"""Parquet files of parts of a table."""

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jsctl.errors import JsctlError
from jsctl.spark.export import parts
from jsctl.spark.export.layout import PLAIN
from jsctl.spark.export.parts import _RowGroups
from jsctl.spark.export.task_folders import DiskFolder
from jsctl.spark.source import columns

NAMES = ("stream", "subject", "sequence", "timestamp", "data")


def messages(first: int, count: int, size: int) -> pa.RecordBatch:
    values = [["S"] * count, ["S.a"] * count, range(first, first + count), [0] * count]
    arrays = [*values, [os.urandom(size) for _ in range(count)]]
    types = columns.build_schema(NAMES)
    return pa.record_batch(
        [pa.array(a, field.type) for a, field in zip(arrays, types, strict=True)], schema=types
    )


@pytest.fixture
def small_files() -> Iterator[None]:
    """This process cannot write files of more than 100 kB, as on a full disk."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limit[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)


def test_groups_are_written_as_they_fill_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "ROW_GROUP", 30_000)
    with _RowGroups(
        DiskFolder.of(tmp_path), "file", columns.build_schema(NAMES), {"key": "value"}, PLAIN.parquet_options
    ) as file:
        for number in range(7):
            file.add(messages(number * 10 + 1, 10, 1000))
        file.finish()
    written = pq.ParquetFile(tmp_path / "file")
    groups = [written.metadata.row_group(at).num_rows for at in range(written.num_row_groups)]
    assert groups == [30, 30, 10]
    assert written.metadata.metadata == {b"key": b"value"}
    assert written.read()["sequence"].to_pylist() == list(range(1, 71))


def test_a_file_that_cannot_be_written(tmp_path: Path, small_files: None) -> None:
    folder = tmp_path / "out" / ".staging" / "a" / "S"
    with (
        pytest.raises(JsctlError, match=f"^Spark cannot write to {tmp_path / 'out'}: File too large$"),
        _RowGroups(
            DiskFolder.of(folder), "file", columns.build_schema(NAMES), {}, PLAIN.parquet_options
        ) as file,
    ):
        file.add(messages(1, 100, 2000))
        file.finish()
