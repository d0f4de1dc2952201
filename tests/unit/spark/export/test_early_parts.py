"""Parts of a table that this process writes while Spark starts; which of them it leaves to tasks."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

from jsctl.errors import Cancelled, JsctlError
from jsctl.spark.export import early_parts
from jsctl.spark.export.early_parts import EarlyParts
from jsctl.spark.source.batch_reader import JetStreamReader
from jsctl.spark.source.columns import build_schema
from jsctl.spark.source.options import parse_read_options

NAMES = ["stream", "subject", "sequence", "timestamp", "data"]


class Reader:
    """Ten parts of one message; the one in `held` waits for `go`, the one in `failing` fails."""

    def __init__(self, held: int = -1, failing: int = -1) -> None:
        self.options = parse_read_options({"servers": "localhost", "stream": "S"})
        self.held, self.failing = held, failing
        self.is_held, self.go = threading.Event(), threading.Event()

    def partitions(self) -> list[int]:
        return list(range(10))

    def read(self, number: int) -> Iterator[pa.RecordBatch]:
        if number == self.held:
            self.is_held.set()
            self.go.wait(20)
        if number == self.failing:
            raise JsctlError("it fails")
        row = {"stream": "S", "subject": "S.a", "sequence": number + 1, "timestamp": 0, "data": b"x"}
        yield pa.RecordBatch.from_pylist([row], build_schema(NAMES))


def begin(reader: Reader, folder: Path, stopped: threading.Event | None = None) -> EarlyParts:
    is_stopped = (stopped or threading.Event()).is_set
    return EarlyParts(cast(JetStreamReader, reader), folder / "early", is_stopped)


def handed_over(early: EarlyParts) -> Any:
    return early.hand_over()


def sequences(parts: Any) -> list[int]:
    return [part.first for part in parts if part.file.exists()]


@pytest.mark.parametrize(("held", "own"), [(2, 3), (9 - early_parts.FEW, 10), (9, 10)])
def test_many_parts_are_left_to_tasks(tmp_path: Path, held: int, own: int) -> None:
    reader = Reader(held)
    early = begin(reader, tmp_path)
    reader.is_held.wait(20)
    assert early.done == held / 10
    assert handed_over(early) == (reader.partitions(), own)
    reader.go.set()
    assert sequences(early.finish()) == list(range(1, own + 1))
    assert handed_over(early) == (reader.partitions(), own)


def test_errors_are_raised_where_the_parts_are_asked_for(tmp_path: Path) -> None:
    early = begin(Reader(failing=3), tmp_path)
    with pytest.raises(JsctlError, match="it fails"):
        early.finish()
    with pytest.raises(JsctlError, match="it fails"):
        early.hand_over()


def test_stopped_while_it_waits_for_a_server(tmp_path: Path) -> None:
    stopped, reader = threading.Event(), Reader(held=2)
    early = begin(reader, tmp_path, stopped)
    reader.is_held.wait(20)
    stopped.set()
    with pytest.raises(Cancelled):
        early.finish()
    reader.go.set()
    early.abandon()
    assert early.done == 0.2
