"""An export that is killed with -9 while its JVM still fetches packages: the JVM ends, and leaves nothing."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from jsctl.spark.session.session import FOLDERS
from tests.commands.export.test_stream import fill
from tests.support.run import Cli
from tests.support.waiting import wait_for

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(900)]

CLEAN = f"from jsctl.base.files import temporary_folder\nwith temporary_folder({FOLDERS!r}): pass"
"""What the next command does with the folders of those that were killed."""


def list_children(pid: int) -> list[int]:
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for thread in threads for child in thread.read_text().split()]


def is_running(pid: int) -> bool:
    """Whether any thread runs: the first one may end before others, which keep the files open."""
    for status in Path(f"/proc/{pid}/task").glob("*/stat"):
        with contextlib.suppress(OSError):
            if status.read_text().rpartition(")")[2].split()[0] != "Z":
                return True
    return False


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the JVM in /proc")
def test_killed_while_packages_are_fetched(cli: Cli, url: str, tmp_path: Path) -> None:
    fill(url, 10)
    folder = tmp_path / "temporary"
    folder.mkdir()
    environ = {**os.environ, **cli.environ, "TMPDIR": str(folder), "SPARK_HOME": ""}
    with socket.create_server(("127.0.0.1", 0)) as repository:  # it accepts, and never answers
        place = f"http://127.0.0.1:{repository.getsockname()[1]}"
        line = [sys.executable, "-m", "jsctl", "export", "stream", "ORDERS", "--to", str(tmp_path / "out")]
        line += ["--packages", "org.example:absent:1.0", "--conf", f"spark.jars.repositories={place}"]
        line += ["--conf", f"spark.jars.ivy={tmp_path / 'ivy'}"]
        process = subprocess.Popen(line, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        repository.settimeout(600)
        connection, _ = repository.accept()
        with connection:
            (java,) = list_children(process.pid)
            process.send_signal(signal.SIGKILL)
            process.wait()
            (kept,) = folder.glob(f"{FOLDERS}*")
            subprocess.run([sys.executable, "-c", CLEAN], env=environ, check=True)
            assert kept.exists() and is_running(java), "the JVM lost its folder"
    wait_for(lambda: not is_running(java), "the JVM goes on", 300)
    os.utime(kept, (0, 0))  # an empty one could be new
    subprocess.run([sys.executable, "-c", CLEAN], env=environ, check=True)
    assert not list(folder.glob(f"{FOLDERS}*"))
