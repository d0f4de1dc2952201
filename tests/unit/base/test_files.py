"""Files written whole or not at all."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from jsctl.base import posix
from jsctl.base.files import (
    is_replaced,
    is_temporary,
    open_atomically,
    open_output,
    open_seekable,
    read_bytes,
    write_atomically,
    write_output,
)
from jsctl.base.posix import make_private_folder, open_private
from jsctl.errors import BadInput, JsctlError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def _umask() -> object:
    before = os.umask(0o027)
    yield None
    os.umask(before)


def test_a_new_file_is_private(tmp_path: Path) -> None:
    write_atomically(tmp_path / "f", "héllo")
    assert (tmp_path / "f").read_bytes() == "héllo".encode()
    assert mode(tmp_path / "f") == 0o600


def test_a_replaced_file_gets_the_mode_or_keeps_its_own(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    path.chmod(0o664)
    write_atomically(path, b"new", mode=None)
    assert (path.read_bytes(), mode(path)) == (b"new", 0o664)
    write_atomically(path, b"newer")
    assert (path.read_bytes(), mode(path)) == (b"newer", 0o600)


def test_the_umask_decides_on_a_new_public_file(tmp_path: Path) -> None:
    write_atomically(tmp_path / "f", b"x", mode=None)
    assert mode(tmp_path / "f") == 0o640


def test_readers_see_the_old_file_until_the_new_one_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    with open_atomically(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
        assert [is_temporary(entry.name) for entry in sorted(tmp_path.iterdir())] == [True, False]
    assert path.read_text() == "new"


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, failure: type[BaseException]) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    with pytest.raises(failure), open_atomically(path) as file:
        file.write(b"half")
        raise failure
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]
    assert path.read_text() == "old"


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    write_output(str(pipe), "text")
    reader.join(10)
    assert received == [b"text"]
    assert pipe.is_fifo()


def test_an_output_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot write .*no/f: No such file or directory"):
        write_output(str(tmp_path / "no" / "f"), "x")
    with pytest.raises(BadInput, match="Is a directory"), open_output(str(tmp_path)):
        pass


def test_text_that_is_not_unicode_is_escaped(tmp_path: Path) -> None:
    write_atomically(tmp_path / "f", "a\udcff")
    assert (tmp_path / "f").read_bytes() == b"a\\udcff"


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old file stays, and nothing else is left."""

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "f"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as raised:
        write_atomically(path, "new")
    assert raised.value.filename == str(path)
    with pytest.raises(JsctlError, match=r"cannot write .*No space left") as failed, open_output(str(path)):
        pass
    assert failed.value.status == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"] and path.read_text() == "old"


@pytest.mark.parametrize("again", [write_output, lambda path, text: write_atomically(Path(path), text)])
def test_what_a_kill_left_is_removed_by_the_next_run(
    tmp_path: Path, again: Callable[[str, str], None]
) -> None:
    if not (pid := os.fork()):
        with open_output(str(tmp_path / "f")) as file:
            file.write(b"a secret")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    [left] = tmp_path.iterdir()
    assert is_temporary(left.name)
    again(str(tmp_path / "f"), "new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_an_exchange_is_one_step(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").write_text("b")
    if not posix.exchange(tmp_path / "a", tmp_path / "b"):
        pytest.skip("this file system cannot")
    assert (tmp_path / "a").read_text() == "b" and (tmp_path / "b").is_dir()
    with pytest.raises(FileNotFoundError):
        posix.exchange(tmp_path / "a", tmp_path / "none")


def test_memory_is_taken_for_what_is_there(tmp_path: Path) -> None:
    """Not for the limit."""
    (tmp_path / "f").write_bytes(b"x" * 1000)
    tracemalloc.start()
    try:
        assert len(read_bytes(tmp_path / "f", "", 1 << 30)) == 1000
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    with pytest.raises(BadInput, match="more than 999 bytes"):
        read_bytes(tmp_path / "f", "", 999)
    if Path("/proc/self/status").exists():
        assert b"VmRSS" in read_bytes(Path("/proc/self/status")), "its size is 0"


def test_a_pipe_is_read_once_and_known_from_then_on(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"x" * 100_000))
    writer.start()
    assert [len(read_bytes(pipe)) for _ in range(3)] == [100_000] * 3
    writer.join(10)


def test_pipes_and_devices_end_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jsctl.base.files.COPY_SIZE", 1 << 20)
    assert read_bytes(Path("/dev/null")) == b""
    with pytest.raises(BadInput, match=r"cannot read /dev/zero: it has more than 1,000 bytes"):
        read_bytes(Path("/dev/zero"), "", 1000)
    with pytest.raises(BadInput, match="more than 1,048,576 bytes"), open_seekable(Path("/dev/zero")):
        pass


def test_what_was_found_must_be_regular(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(BadInput, match="it is not a regular file"):
            read_bytes(path, regular=True)


def test_a_pipe_at_any_position(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"0123456789"))
    writer.start()
    with open_seekable(pipe) as file:
        assert file.seek(4) == 4 and file.read(2) == b"45" and file.seek(0) == 0 and file.read(1) == b"0"
    writer.join(10)


def test_folders_for_secrets_are_private_up_to_the_first_that_exists(tmp_path: Path) -> None:
    os.umask(0)  # the fixture sets it back
    (tmp_path / "there").mkdir(mode=0o755)
    make_private_folder(tmp_path / "there" / "a" / "b")
    make_private_folder(tmp_path / "there" / "a" / "b")
    assert [mode(tmp_path / "there" / name) for name in ("", "a", "a/b")] == [0o755, 0o700, 0o700]
    os.close(open_private(tmp_path / "there" / "f", os.O_WRONLY | os.O_CREAT))
    assert mode(tmp_path / "there" / "f") == 0o600


@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_the_file_of_a_redirection_is_written_to_where_it_is(path: str, tmp_path: Path) -> None:
    """What others wrote before and after stays: with `>>`, all of the file was theirs."""
    code = (
        f"from jsctl.base.files import *; from jsctl.jetstream.object.files import open_target;"
        f" p = Path('{path}'); write_atomically(p, 'one ');\n"
        "with open_target(p) as file: file.write(b'two ')\n"
        "assert not is_replaced(p)"
    )
    for redirect in (">", ">>"):
        file = tmp_path / "file"
        file.write_text("old ")
        script = f"exec {redirect} '{file}'; printf 'first '; '{sys.executable}' -c \"$0\"; printf last"
        subprocess.run(["bash", "-c", script, code], check=True)
        kept = "old " if redirect == ">>" else ""
        assert file.read_text() == f"{kept}first one two last"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    found = [
        is_replaced(path) for path in (tmp_path, tmp_path / "file", tmp_path / "pipe", Path("/dev/null"))
    ]
    assert found == [True, True, False, False]
