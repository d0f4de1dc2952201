"""The folder of exported streams: data and checkpoint as one, whatever moment a run is killed at."""

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from jsctl.commands.export.stream import stream
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, Denied, ExitStatus, JsctlError
from jsctl.render.transfer import Transfer
from jsctl.spark.export.checkpoint_settings import build_settings, check_settings
from jsctl.spark.export.job_errors import job_error
from jsctl.spark.export.layout import TableLayout
from jsctl.spark.export.partitions import parse_partitions
from jsctl.spark.export.stream_plan import Selection
from jsctl.spark.export.stream_target import KIND, StreamTarget, read_checkpoint
from jsctl.spark.source.range_reader import DataLoss, check_identity
from jsctl.views.export.export import closing


def commit(path: Path, table: str, name: str, next: int, *, replace: bool = False) -> None:
    target = StreamTarget.open(path, KIND, "parquet", [table])
    with target.lock(), target.commit(table, replace=replace) as (folder, note):
        folder.mkdir()
        (folder / name).write_text("rows")
        note |= {"created": "c", "from": 1, "next": next, "settings": {}}


def files(path: Path) -> list[str]:
    return sorted(str(f.relative_to(path)) for f in path.rglob("*") if f.is_file())


def next_of(path: Path, table: str) -> int | None:
    result = read_checkpoint(path, table)
    return int(result["next"]) if result else None


def test_data_and_checkpoint_land_together(tmp_path: Path) -> None:
    path = tmp_path / "out"
    commit(path, "A", "part-1", 10)
    commit(path, "A", "part-2", 20)
    commit(path, "B", "part-1", 5)
    assert (next_of(path, "A"), next_of(path, "B")) == (20, 5)
    assert files(path) == [
        "A/part-1",
        "A/part-2",
        "B/part-1",
        "_checkpoints/A.json",
        "_checkpoints/B.json",
        "_jsctl_export.json",
    ]
    assert json.loads((path / "_jsctl_export.json").read_text())["tables"] == ["A", "B"]


def test_a_table_is_replaced_alone(tmp_path: Path) -> None:
    path = tmp_path / "out"
    commit(path, "A", "part-1", 10)
    commit(path, "B", "part-1", 10)
    commit(path, "A", "part-9", 3, replace=True)
    assert [name for name in files(path) if name[0] in "AB"] == ["A/part-9", "B/part-1"]
    assert next_of(path, "A") == 3


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "out"
    target = StreamTarget.open(path, KIND, "parquet", ["A"])
    with pytest.raises(RuntimeError), target.lock(), target.commit("A") as (folder, _):
        folder.mkdir()
        (folder / "part-1").write_text("rows")
        raise RuntimeError
    assert not path.exists()


def commit_until_killed(path: Path, replace: bool, operations: int) -> int:
    """Commit in a child that dies with 9 before the nth change in the folder, and return its exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = operations

    def trace(event: str, args: object) -> None:
        nonlocal left
        if event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree"):
            if left == 0:
                os._exit(9)
            left -= 1

    try:
        sys.addaudithook(trace)
        commit(path, "A", "part-2", 20, replace=replace)
        os._exit(0)
    finally:
        os._exit(1)


@pytest.mark.long
@pytest.mark.parametrize("how", ["append", "replace"])
def test_killed_at_every_step(tmp_path: Path, how: str) -> None:
    """Either all or nothing of the write is there once the next run has looked."""
    seen = set()
    for operations in range(30):
        path = tmp_path / str(operations)
        commit(path, "A", "part-1", 10)
        code = commit_until_killed(path, how == "replace", operations)
        with StreamTarget.open(path, KIND, "parquet", ["A"]).lock():
            parts = [name for name in files(path) if name.startswith("A/")]
            seen.add(next_of(path, "A"))
            new = ["A/part-2"] if how == "replace" else ["A/part-1", "A/part-2"]
            assert parts == (["A/part-1"] if next_of(path, "A") == 10 else new), operations
            assert not (path / ".staging").exists()
        if code == 0:
            break
        assert code == 9
    else:
        pytest.fail("it never came to the end")
    assert seen == {10, 20}


def test_one_run_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "out"
    commit(path, "A", "part-1", 10)
    with StreamTarget.open(path, KIND, "parquet", ["A"]).lock():
        other = StreamTarget.open(path, KIND, "parquet", ["A"])
        with pytest.raises(BadInput, match="another export writes to"), other.lock():
            pass


def test_a_broken_checkpoint_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "out"
    commit(path, "A", "part-1", 10)
    (path / "_checkpoints" / "A.json").write_text("[]")
    with pytest.raises(JsctlError, match="is not a checkpoint"):
        read_checkpoint(path, "A")


def test_partitions() -> None:
    assert [partition.name for partition in parse_partitions(["hour", "date", "subject:2"])] == [
        "date",
        "hour",
        "subject_2",
    ]
    for wrong in ("subject", "subject:0", "subject:-1", "month", ""):
        with pytest.raises(BadInput):
            parse_partitions([wrong])


def test_columns_to_partition_by_in_tasks() -> None:
    pa = pytest.importorskip("pyarrow")
    time = datetime(2026, 11, 29, 23, 30, tzinfo=UTC)
    columns = {
        "subject": pa.array(["ORDERS.eu", "ORDERS"]),
        "timestamp": pa.array([time, time], pa.timestamp("us", "UTC")),
        "id": pa.array([7, None]),
    }
    built = {each.name: each.build(columns) for each in parse_partitions(["hour", "subject:2", "field:id"])}
    assert {name: column.to_pylist() for name, column in built.items()} == {
        "date": [time.date()] * 2,
        "hour": [23] * 2,
        "subject_2": ["eu", None],
        "field_id": ["7", None],
    }


KEPT = (
    *("decode", "schema", "partition_by", "keep_data", "headers", "message", "registry", "decompress"),
    *("subject", "given", "found_message"),
)
"""Keys in the checkpoints of tables that exist."""


@pytest.mark.parametrize("name", TableLayout._fields)
def test_tables_are_continued_with_the_options_that_they_were_made_with(name: str) -> None:
    layout = TableLayout("avro", "{}", login=Settings(user="a"))
    settings = json.loads(json.dumps(build_settings(layout, Selection())))
    assert set(KEPT) <= settings.keys()
    check_settings("T", layout, Selection(), settings)
    other: dict[type, Any] = {str: "gzip", bool: True, int: 5, tuple: ("date",), Settings: Settings(user="b")}
    changed = layout._replace(**{name: other[type(getattr(layout, name))]})
    if name not in settings:
        assert name not in KEPT
        check_settings("T", changed, Selection(), settings)
    else:
        with pytest.raises(
            BadInput, match=f"^T was exported with (other|another) --{name.replace('_', '-')}"
        ):
            check_settings("T", changed, Selection(), settings)


def test_flags_of_a_table_are_options_of_its_layout() -> None:
    flags = {str(param.name) for param in stream.params if getattr(param, "into", "") == "layout"}
    assert flags and flags <= set(TableLayout._fields)


def test_failures_of_tasks_keep_their_status() -> None:
    stack = "[PYTHON] An error\n  File x, line 3\njsctl.errors.Denied: no permission; ask\n\n\tat org.apache"
    assert job_error(RuntimeError(stack)).status is ExitStatus.DENIED
    assert isinstance(job_error(RuntimeError(stack)), Denied)
    loss = job_error(
        RuntimeError(
            "jsctl.spark.source.range_reader.DataLoss: S starts at 5; set failOnDataLoss to false to read"
        )
    )
    assert isinstance(loss, DataLoss) and "--no-fail-on-data-loss" in str(loss)
    assert "\n" not in str(job_error(RuntimeError("[X] what\nat java.lang")))
    planned = DataLoss(
        "S starts at sequence 9, after startingOffsets 5", "set failOnDataLoss to false to read"
    )
    assert str(job_error(planned)) == (
        "S starts at sequence 9, after the requested 5; --no-fail-on-data-loss is there to read"
    )
    options = BadInput("as it is")
    assert job_error(options) is options


def test_closing_line() -> None:
    data: dict[str, Any] = {
        "exported": 1,
        "bytes": 5,
        "deleted": None,
        "lost": 2,
        "bad": 3,
        "seconds": 1.25,
        "to": "x",
        "streams": [],
    }
    assert closing(data) == (
        "exported 1 message (5 B) to x, deleted not counted, lost up to 2, bad payloads 3, in 1.2s"
    )


def test_progress_in_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Transfer(sys.stderr, "exporting", 1000, 2048)
    assert bar.numbers(0.0) == "0/1,000 messages, 0 B"
    assert bar.numbers(0.5).startswith("500/1,000 messages, 1.0 KiB, ")
    assert bar.numbers(0.5).endswith("/s, 1s left")


def test_a_stream_created_again_during_an_export_has_no_old_checkpoint() -> None:
    info = {"config": {"name": "S"}, "created": "later", "state": {"last_seq": 9}}
    with pytest.raises(DataLoss) as caught:
        check_identity(info, "earlier", 10)
    assert str(job_error(caught.value)).endswith("its sequences are different now: run it again")
