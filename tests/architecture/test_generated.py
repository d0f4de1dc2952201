"""What tests compare with is written as it is to stay: what varies by its shape, and only what differs."""

import json
import multiprocessing
from pathlib import Path

import pytest

from tests.support import golden, verb_shapes
from tests.support.generated import rewrite


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("ORDERS  245ms\nB       1.20s", "ORDERS      T\nB           T"),
        ("ORDERS  1m2.00s  4\n", "ORDERS        T  4\n"),
        ("│ never │", "│     T │"),
        ("Ack Wait: 30s\n Max Age: 1d", "Ack Wait: 30s\n Max Age: 1d"),
        ("at 2026-11-28 05:17:04Z", "at YYYY-MM-DD hh:mm:ss"),
    ],
)
def test_what_varies_has_a_shape(text: str, stored: str) -> None:
    assert golden.shape("a.txt", text) == stored


@pytest.mark.parametrize(
    "text",
    [
        "Round Trip: 245ms",
        "took 1.2345s",
        "at 05:17:04",
        "Server ID: NDH3MKPB5ZKKCNNHJ2B7WDE6VYVQ5CRGN7XJX6FQ3L2JW6VOBF5AAAAA",
        "nats://127.0.0.1:43210",
    ],
)
def test_what_varies_without_a_shape_is_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(golden, "_FOLDER", tmp_path)
    monkeypatch.setenv("JSCTL_GOLDEN", "write")
    with pytest.raises(AssertionError, match="varies; give it a shape"):
        golden.check("a.txt", text)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = tmp_path / "shapes.txt"
    copy.write_text(
        "# kept\nsystem: server list\n  . list\n= kv ls (0): bucket:number keys:number\n"
        "- config: name:number\n= stream ls (0):\n"
    )
    monkeypatch.setattr(verb_shapes, "FILE", copy)
    monkeypatch.setenv("JSCTL_GOLDEN", "write")
    return copy


def find_difference(path: str, status: int = 0, *, is_last: bool = True, **document: object) -> str:
    return verb_shapes.find_difference(path, status, json.dumps(document), is_last=is_last)


def test_a_verb_that_is_as_it_was_is_not_written(file: Path) -> None:
    before = file.stat()
    assert find_difference("kv ls", bucket=1, keys=2, since_yesterday=3) == ""
    assert find_difference("kv ls", bucket=1, keys=2, config={"name": 1, "now_and_then": 2}) == ""
    assert "without keys" in find_difference("kv ls", bucket=1, is_last=False)
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_new_keys_of_a_verb_that_is_named_are_written(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JSCTL_GOLDEN_VERBS", "stream ls,kv ls")
    assert find_difference("kv ls", bucket=1, keys=2, config={"name": 1, "age": 2}, since=3) == ""
    assert file.read_text().splitlines()[3:5] == [
        "= kv ls (0): bucket:number config:object keys:number since:number",
        "- config: age:number name:number",
    ]


def test_only_a_verb_that_differs_is_written(file: Path) -> None:
    assert find_difference("kv ls", bucket=1, values=2) == ""
    assert find_difference("stream age", stream="S") == ""
    assert file.read_text() == (
        "# kept\nsystem: server list\n  . list\n= kv ls (0): bucket:number values:number\n"
        "- config: name:number\n= stream age (0): stream\n= stream ls (0):\n"
    )
    rewrite(file, lambda text: verb_shapes.keep(text, {"kv ls"}))
    assert file.read_text().splitlines()[-1] == "- config: name:number"


def add_lines(file: Path, first: int) -> None:
    for number in range(first, first + 50):
        rewrite(file, lambda text, number=number: f"{text}{number}\n")  # type: ignore[misc]


def test_processes_lose_nothing_of_each_other(tmp_path: Path) -> None:
    file = tmp_path / "file"
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=add_lines, args=(file, first)) for first in (0, 100, 200)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert len(set(file.read_text().splitlines())) == 150
