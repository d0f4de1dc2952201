"""The processes of a network at the moments of a start that a kill -9 of jsctl, or another one, can meet."""

import fcntl
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jsctl.errors import JsctlError, MissingDependency
from jsctl.localserver import folder
from jsctl.localserver.processes import Process, find, find_all, is_running, start
from jsctl.localserver.startup import launch
from jsctl.localserver.state import NodeState

NAME = "n1"
# As after a kill of the jsctl that started it: it has the lock, and has not written its number.
UNBORN = ("/bin/sh", "-c", 'read go || exit; echo $$ >"$0"; exec sleep 60')


@pytest.fixture
def child(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that holds the lock; a line on its stdin lets it go on, the end of it ends it."""
    lock = tmp_path / f"{NAME}.lock"
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        process = subprocess.Popen([*UNBORN, str(lock)], stdin=subprocess.PIPE, pass_fds=(handle.fileno(),))
    yield process
    process.kill()
    process.communicate()


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as executor:
        yield executor


def let_go_on(child: subprocess.Popen[bytes]) -> None:
    assert child.stdin is not None
    child.stdin.write(b"\n")
    child.stdin.flush()


def test_one_that_has_no_number_yet_is_waited_for(
    tmp_path: Path, child: subprocess.Popen[bytes], threads: ThreadPoolExecutor
) -> None:
    found = threads.submit(find_all, tmp_path)
    with pytest.raises(TimeoutError):
        found.result(0.05)
    let_go_on(child)
    assert found.result() == {NAME: Process(tmp_path, NAME, child.pid)}


def test_one_that_ends_without_a_number_does_not_run(
    tmp_path: Path, child: subprocess.Popen[bytes], threads: ThreadPoolExecutor
) -> None:
    found = threads.submit(find, tmp_path, NAME)
    with pytest.raises(TimeoutError):
        found.result(0.05)
    assert child.stdin is not None
    child.stdin.close()
    assert found.result() is None


def test_it_is_not_started_beside_one_that_has_no_number_yet(
    tmp_path: Path, child: subprocess.Popen[bytes], threads: ThreadPoolExecutor
) -> None:
    log = tmp_path / "log"
    started = threads.submit(start, tmp_path, NAME, ["sleep", "60"], tmp_path, log, os.environ)
    with pytest.raises(TimeoutError):
        started.result(0.05)
    let_go_on(child)
    with pytest.raises(JsctlError, match=rf"is already running \(process {child.pid}\)"):
        started.result()


def test_who_looks_at_the_lock_does_not_hinder_a_start(tmp_path: Path, threads: ThreadPoolExecutor) -> None:
    lock = tmp_path / f"{NAME}.lock"
    lock.write_text("1\n")  # of an earlier process
    with lock.open() as handle:
        fcntl.flock(handle, fcntl.LOCK_SH)
        assert not is_running(tmp_path, NAME)
        started = threads.submit(
            start, tmp_path, NAME, ["sleep", "60"], tmp_path, tmp_path / "log", os.environ
        )
        with pytest.raises(TimeoutError):
            started.result(0.05)
    process = started.result()
    assert find(tmp_path, NAME) == Process(tmp_path, NAME, process.pid)
    assert process.child is not None
    process.child.kill()
    process.child.wait()


def test_the_lock_of_the_folder_may_end_a_moment_after_its_jsctl(
    tmp_path: Path, threads: ThreadPoolExecutor
) -> None:
    def change() -> bool:
        with folder.changing(tmp_path):
            return True

    with folder.changing(tmp_path):
        changed = threads.submit(change)
        with pytest.raises(TimeoutError):
            changed.result(0.05)
    assert changed.result()


def test_a_program_that_no_longer_exists(tmp_path: Path) -> None:
    node = NodeState("n1", "c", "", [str(tmp_path / "nats-server")], str(tmp_path))
    with pytest.raises(MissingDependency, match=r"nats-server, which n1 was started with, no longer exists"):
        launch(tmp_path, node, os.environ)
    assert not is_running(tmp_path, "n1")
