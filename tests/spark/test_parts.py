"""Files of partitions: whatever rows come in what batches, each is in its folder once, in order."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql.types import LongType, StringType, StructField, StructType

from jsctl.spark.export import parts
from jsctl.spark.export.layout import Arrangement, TableLayout
from jsctl.spark.export.parts import PartFiles
from jsctl.spark.export.task_folders import DiskFolder
from jsctl.spark.source import messages

HOUR = 3_600_000_000  # µs
SCHEMA = StructType([StructField("subject", StringType()), StructField("sequence", LongType())])


def build_batches(sizes: Sequence[int], tokens: Sequence[str], hours: Sequence[int]) -> list[pa.RecordBatch]:
    """Return batches of messages, on subjects of these tokens and in these hours in turn."""
    batches, first = [], 1
    for size in sizes:
        sequences = range(first, first + size)
        columns = [
            pa.array([f"S.{tokens[n % len(tokens)]}" for n in sequences], pa.string()),
            pa.array(sequences, pa.int64()),
            pa.array([hours[n % len(hours)] * HOUR for n in sequences], messages.SPARK_TIME),
            pa.array([b"x"] * size, pa.binary()),
        ]
        names = ["subject", "sequence", "timestamp", "data"]
        batches.append(pa.RecordBatch.from_arrays(columns, names=names))
        first += size
    return batches


def build_arrangement(by: Sequence[str], sort_by: str) -> Arrangement:
    layout = TableLayout(partition_by=tuple(by), sort_by=sort_by)
    return Arrangement(layout, ("subject", "sequence", "timestamp"), None)


@settings(max_examples=40)
@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=12),
    tokens=st.lists(st.sampled_from(["a", "b", "a=b", "%", "c.d"]), min_size=1, max_size=7),
    hours=st.lists(st.integers(0, 30), min_size=1, max_size=7),
    by=st.sampled_from([["date"], ["hour"], ["subject:2"], ["date", "subject:3", "subject:2"]]),
    sort_by=st.sampled_from(["", "subject"]),
    memory=st.sampled_from([1, 1_000, 1 << 20]),
    split=st.sampled_from([0, 5, 1_000]),
)
def test_every_row_is_in_its_folder_once(
    sizes: list[int],
    tokens: list[str],
    hours: list[int],
    by: list[str],
    sort_by: str,
    memory: int,
    split: int,
) -> None:
    batches = build_batches(sizes, tokens, hours)
    arrangement = build_arrangement(by, sort_by)
    with TemporaryDirectory() as folder, patch.multiple(parts, PARTITIONED=memory, SPLIT=split):
        files = PartFiles.of(DiskFolder.of(Path(folder)), "w", arrangement, SCHEMA)
        part = files.write(0, batches)
        found: dict[int, tuple[str, str]] = {}
        for file in part.files:
            read = pq.ParquetFile(Path(folder, file))
            assert read.num_row_groups == 1
            rows = read.read().to_pylist()
            key = (lambda row: (row["subject"], row["sequence"])) if sort_by else lambda row: row["sequence"]
            assert rows == sorted(rows, key=key)
            for row in rows:
                assert row["sequence"] not in found
                found[row["sequence"]] = file.rpartition("/")[0], row["subject"]
    names = [partition.name for partition in arrangement.layout.partitions]
    expected = {}
    for batch in batches:
        for row in arrangement.arrange(batch).to_pylist():
            path = "/".join(f"{name}={format_value(row[name])}" for name in names)
            expected[row["sequence"]] = path, row["subject"]
    assert found == expected
    assert part.rows == sum(sizes) and len(set(part.files)) == len(part.files)
    if memory > 1 << 16:  # all at once: a file for each partition
        assert len(part.files) == len({path for path, _ in expected.values()})


def format_value(value: object) -> str:
    text = "__HIVE_DEFAULT_PARTITION__" if value is None else str(value)
    return text.replace("%", "%25").replace("=", "%3D")


def test_rows_of_one_partition_are_not_copied() -> None:
    """Memory for a copy costs more than to write the rows."""
    arrangement = build_arrangement(["date"], "")
    (batch,) = build_batches([1000], ["a"], [0, 1, 2])
    ((_, rows),) = arrangement.split(arrangement.arrange(batch))
    assert rows["subject"].buffers()[2].address == batch["subject"].buffers()[2].address
