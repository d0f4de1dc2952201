"""Files that objects are written to."""

import os
import threading
from pathlib import Path

import pytest

from jsctl.jetstream.object import files

CHUNKS = [b"", *(b"%d" % number for number in range(2000)), os.urandom(700_000), b"", b"end"]


@pytest.mark.parametrize("has_writev", [True, False])
def test_all_chunks_are_written_in_order(
    has_writev: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_HAS_WRITEV", has_writev and hasattr(os, "writev"))
    with files.open_target(tmp_path / "a") as file:
        files.write_all(file, CHUNKS)
    assert (tmp_path / "a").read_bytes() == b"".join(CHUNKS)


def test_a_pipe_takes_less_at_a_time() -> None:
    read_end, write_end = os.pipe()
    received = list[bytes]()

    def read() -> None:
        with os.fdopen(read_end, "rb") as source:
            received.append(source.read())

    reader = threading.Thread(target=read)
    reader.start()
    with os.fdopen(write_end, "wb", buffering=0) as target:
        files.write_all(target, CHUNKS)
    reader.join()
    assert received == [b"".join(CHUNKS)]
