"""Files of recorded rounds: appended, cut, trimmed, read."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from jsctl.errors import BadInput, JsctlError
from jsctl.monitor.report import recording as module
from jsctl.monitor.report.recording import VERSION, Recorder, Recording, encode_round, is_recording
from tests.fuzz.record import Record


def record(path: Path, *documents: dict[str, Any], keep: float | None = None, at: float = 1000.0) -> None:
    """Record these rounds, a second apart."""
    recorder = Recorder(path, keep)
    for number, document in enumerate(documents):
        recorder.write(document, at + number)
    recorder.close()


def test_rounds_come_back(tmp_path: Path) -> None:
    path = tmp_path / "rec"
    record(path, {"a": "é"}, {"a": 2})
    record(path, {"a": 3}, at=1002.5)
    recording = Recording(path)
    assert list(recording.times) == [1000.0, 1001.0, 1002.5]
    assert [recording.load(n)["a"] for n in range(3)] == ["é", 2, 3]
    assert is_recording(path)


def test_other_tools_read_lines_of_json(tmp_path: Path) -> None:
    path = tmp_path / "rec"
    record(path, {"a": 1}, {"a": 2})
    lines = gzip.decompress(path.read_bytes()).splitlines()
    assert [json.loads(line)["a"] for line in lines] == [1, 2]


def test_a_kill_costs_the_last_round_at_most(tmp_path: Path) -> None:
    """At every byte: what is there is read, and the next round is appended behind it."""
    path = tmp_path / "rec"
    record(path, {"a": 1}, {"a": 2})
    whole = path.read_bytes()
    first = len(encode_round({"jsctl_report": VERSION, "a": 1}, 1000))
    for size in range(first, len(whole)):
        path.write_bytes(whole[:size])
        assert len(Recording(path).times) == 1
        record(path, {"a": 3}, at=1010)
        recording = Recording(path)
        assert [recording.load(n)["a"] for n in range(2)] == [1, 3]
    for size in range(first):
        path.write_bytes(whole[:size])
        with pytest.raises(BadInput, match="holds no rounds"):
            Recording(path)
        record(path, {"a": 3})
        assert Recording(path).load(0)["a"] == 3


def test_old_rounds_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "rec"
    record(path, *({"a": n} for n in range(10)))
    record(path, {"a": "new"}, keep=5, at=1012)
    recording = Recording(path)
    assert [recording.load(n)["a"] for n in range(len(recording.times))] == [7, 8, 9, "new"]


def test_other_files(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    for content in (b"a text that is longer than a header of a round", b"x", gzip.compress(b"{}")):
        path.write_bytes(content)
        with pytest.raises(BadInput, match="is not a recorded report"):
            Recording(path)
        with pytest.raises(BadInput, match="is not a recorded report"):
            Recorder(path)
        assert path.read_bytes() == content, "it is not touched"
        assert not is_recording(path)
    with pytest.raises(BadInput, match="cannot read"):
        Recording(tmp_path / "nothing")


def test_a_full_disk_is_one_line() -> None:
    recorder = Recorder(Path("/dev/full")) if Path("/dev/full").exists() else pytest.skip("no /dev/full here")
    with pytest.raises(JsctlError, match=r"cannot write /dev/full: No space left"):
        recorder.write({"a": 1}, 1.0)
    recorder.close()


def test_damaged_rounds(tmp_path: Path) -> None:
    path = tmp_path / "rec"
    record(path, {"a": 1}, {"a": 2})
    data = bytearray(path.read_bytes())
    data[len(data) // 2 + 40] ^= 0xFF
    path.write_bytes(data)
    assert Recording(path).load(0)["a"] == 1
    with pytest.raises(BadInput, match=r"round 2 of .* is damaged"):
        Recording(path).load(1)


def test_the_index_of_tiny_rounds_is_small(tmp_path: Path) -> None:
    path = tmp_path / "rec"
    path.write_bytes(encode_round({"jsctl_report": VERSION}, 1.0) * 300_000)
    with Record("index of tiny rounds", limit=20 << 20):
        assert len(Recording(path).times) == 300_000


def test_a_file_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rec"
    monkeypatch.setattr(module, "MAX_ROUNDS", 3)
    with pytest.raises(JsctlError, match=r"would have more than .* rounds.*--keep"):
        record(path, *({"a": n} for n in range(4)))
    assert len(Recording(path).times) == 3
    record(path, {"a": 4}, keep=2, at=1004)  # makes room
    assert [Recording(path).load(n)["a"] for n in range(2)] == [2, 4]
    path.write_bytes(path.read_bytes() * 2)
    with pytest.raises(BadInput, match="has more than"):
        Recording(path)
