"""No process lives on after a command: each verb runs as a process of its own, and when it has ended, nothing
that it started runs, in whatever session. Only networks that were started to stay are there until `down`."""

import contextlib
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.contract.test_commands import VERBS
from tests.contract.test_json import OF_ACCOUNT, OF_NETWORK, RUNNING
from tests.fuzz.commands import is_endless, lines, make_again, prepare
from tests.support.run import Cli
from tests.support.waiting import wait_for

NOUNS = sorted({path.split()[0] for path in VERBS})
STARTING = {
    "server run": "server run --store {}/one --port 0",
    "demo guide": "demo guide --to {}/guide",
    "demo hub-spokes": "demo hub-spokes --to {}/spokes",
}
SPARK = {
    "export stream": "export stream ORDERS --to {}/tables",
    "export reports": "export reports --to {}/reports",
    "spark warm-up": "spark warm-up",
}
_SECONDS = 2  #: until ctrl-C for a verb that may have no end
_MOST_SECONDS = 300  #: for any other, on a busy machine


def started_by(home: Path) -> list[str]:
    """The command lines of processes with this home folder in their environment."""
    mark, found = f"HOME={home}".encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is of another user
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return found


def run(cli: Cli, path: str, line: Sequence[str]) -> None:
    """Run a verb to its end, or to ctrl-C."""
    with_archive = {"JSCTL_SPARK_ARCHIVE": "", "SPARK_SUBMIT_OPTS": ""}
    process = cli.start(
        line,
        environ=with_archive if path == "spark warm-up" else {},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    has_end = not (is_endless(path) or path in RUNNING)
    try:
        process.wait(_MOST_SECONDS if has_end else _SECONDS)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        process.wait(_MOST_SECONDS)


def check(home: Path, path: str) -> None:
    """Nothing runs that a verb started. What was killed may take a moment to be gone."""
    end = time.monotonic() + 2
    while left := started_by(home):
        assert time.monotonic() < end, f"{path} left {left}"
        time.sleep(0.05)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.timeout(300)  # some verbs of `export` start Spark
@pytest.mark.parametrize("noun", NOUNS)
def test_no_process_lives_on_after_a_verb(noun: str, cli: Cli, url: str, folder: Path) -> None:
    prepare(cli, url, folder)
    cli.environ["EDITOR"] = "true"
    given: Mapping[str, str] = {**OF_ACCOUNT, **STARTING, **SPARK}
    for path, line in {**lines(folder), **{path: [] for path in STARTING}}.items():
        if path.split()[0] == noun and path not in OF_NETWORK:
            words = shlex.split(given.get(path, "").format(folder)) or line
            make_again(url)
            run(cli, path, words)
            check(cli.home, path)


@pytest.mark.long
def test_no_process_of_a_network_lives_on_after_down(cli: Cli, tmp_path: Path) -> None:
    for path, line in OF_NETWORK.items():
        run(cli, path, shlex.split(line.format(tmp_path / "network")))
    check(cli.home, "server network down")


@pytest.mark.slow
def test_a_process_that_lives_on_is_seen(cli: Cli) -> None:
    environ = {**os.environ, **cli.environ}
    with subprocess.Popen(["sleep", "60"], env=environ, start_new_session=True) as process:
        wait_for(lambda: started_by(cli.home), "the process runs")
        with pytest.raises(AssertionError, match=r"some verb left .*sleep 60"):
            check(cli.home, "some verb")
        process.kill()
