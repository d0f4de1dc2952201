"""`jsctl export reports` as a process of its own: noise, leftovers, signals."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.waiting import wait_for, wait_until

pytestmark = pytest.mark.spark


def start(cli: Cli, folder: Path, *args: str) -> subprocess.Popen[str]:
    folder.mkdir(exist_ok=True)
    line = ["export", "reports", "--to", "out", *args]
    return cli.start(line, cwd=folder, environ={"TMPDIR": str(folder)})


def java_of(process: subprocess.Popen[str]) -> int:
    """The pid of the JVM below a process, once there is one."""

    def find() -> list[int]:
        line = ["ps", "--ppid", str(process.pid), "-o", "pid=,comm="]
        listing = subprocess.run(line, capture_output=True, text=True, check=False).stdout
        return [int(row.split()[0]) for row in listing.splitlines() if row.split()[1] == "java"]

    return wait_until(find, bool)[0]


def wait_for_samples(url: str, count: int) -> None:
    """Wait until a run has asked for at least `count` samples, which is a request or more each."""
    requests = -int(js.ask(url, "INFO")["api"]["total"])

    def others() -> int:
        nonlocal requests
        requests -= 1  # the one that follows
        return requests + int(js.ask(url, "INFO")["api"]["total"])

    wait_until(others, lambda total: total > 3 * count)


def wait_for_end(pid: int) -> None:
    try:
        wait_for(lambda: not alive(pid), "the JVM outlived jsctl", 20)
    finally:
        if alive(pid):
            os.kill(pid, signal.SIGKILL)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def sampling(streams: Cli, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int, Path]]:
    """A run that samples until it is stopped, with its JVM's pid and its folder."""
    folder = tmp_path / "here"
    process = start(streams, folder, "--every", "200ms")
    try:
        yield process, java_of(process), folder
    finally:
        process.kill()
        process.communicate()


@pytest.mark.long
def test_sigterm_writes_what_was_sampled_and_leaves_nothing_else(
    sampling: tuple[subprocess.Popen[str], int, Path], url: str
) -> None:
    process, java, folder = sampling
    wait_for_samples(url, 4)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out.startswith("wrote ")
    assert err == ""
    wait_for_end(java)
    assert [path.name for path in folder.iterdir()] == ["out"]
    assert pq.read_table(folder / "out" / "streams").num_rows >= 4


@pytest.mark.long
def test_killed_it_leaves_no_jvm_and_the_next_run_cleans_up(
    sampling: tuple[subprocess.Popen[str], int, Path], streams: Cli, url: str, spark: Any
) -> None:
    process, java, folder = sampling
    wait_for_samples(url, 2)
    process.kill()
    process.communicate()
    wait_for_end(java)
    assert not (folder / "out").exists()
    streams(f"export reports --to {folder}/out", status=0)
    assert pq.read_table(folder / "out" / "streams").num_rows == 2


def test_ctrl_c_while_spark_starts(streams: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "here"
    process = start(streams, folder)
    java = java_of(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.strip()) == (130, "", "")
    wait_for_end(java)
    assert list(folder.iterdir()) == []
