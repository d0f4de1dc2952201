"""`jsctl report --watch` in a real pseudo-terminal, with servers that die and come back."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from tests.support import js
from tests.support.run import Cli, Terminal
from tests.support.servers import HubLeaf, RealServer

pytestmark = pytest.mark.slow

ENTER, LEAVE, SHOW = "\x1b[?1049h", "\x1b[?1049l", "\x1b[?25h"
STYLED = r"(?:\x1b\[[0-9;]*m|\s)*"
CONFIG = 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n'


@pytest.fixture
def east(tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path / "east", CONFIG, name="east").start()
    yield server
    server.stop()


@pytest.fixture
def west(tmp_path: Path) -> Iterator[RealServer]:
    """Not started."""
    server = RealServer(tmp_path / "west", CONFIG, name="west")
    yield server
    server.stop()


@pytest.fixture
def both(offline_cli: Cli, east: RealServer, west: RealServer) -> Cli:
    """Contexts east and west."""
    offline_cli(f"context add east --server {east.url}", status=0)
    offline_cli(f"context add west --server {west.url}", status=0)
    return offline_cli


def end(child: Terminal) -> tuple[str, int]:
    """What came after the last expectation, and the exit status (128 + signal)."""
    child.expect(pexpect.EOF)
    child.close()
    status = child.exitstatus if child.signalstatus is None else 128 + child.signalstatus
    assert child.before is not None and status is not None
    return child.before, status


def test_two_domains_on_one_screen(hub_cli: Cli, hub_leaf: HubLeaf) -> None:
    js.stream(hub_leaf.url, "test", "test", domain="leaf")
    js.stream(
        hub_leaf.url, "copy", domain="hub", mirror={"name": "test", "external": {"api": "$JS.leaf.API"}}
    )
    child = hub_cli.terminal("report --watch 200ms --js-domain hub --js-domain leaf")
    child.expect_exact(ENTER)
    child.expect("domain hub.*copy.*Mirror.*domain leaf.*test")
    child.send("q")
    left, status = end(child)
    assert status == 0
    assert LEAVE in left
    assert SHOW in left
    # The last picture stays in the scrollback.
    assert "domain leaf" in left.rpartition(LEAVE)[2]


def test_a_killed_server_is_reported_and_comes_back(both: Cli, east: RealServer, west: RealServer) -> None:
    west.start()
    js.stream(east.url, "going", "going")
    child = both.terminal("report --watch 200ms --context east --context west")
    child.expect(f"east{STYLED}all well")
    child.expect(f"west{STYLED}all well")
    west.kill()
    child.expect(f"west{STYLED}unreachable.*connection refused", timeout=5)
    js.publish(east.url, "going", count=777)
    child.expect(rf"going\W.*\b777\b.*west{STYLED}unreachable", timeout=5)
    west.start()
    child.expect(f"west{STYLED}all well", timeout=10)
    child.sendintr()
    left, status = end(child)
    assert status == 0
    assert LEAVE in left
    assert SHOW in left
    assert "connection lost" not in left


def test_a_server_that_is_not_there_at_first(both: Cli, west: RealServer) -> None:
    child = both.terminal("report --watch 200ms --context west --context east")
    child.expect(f"west{STYLED}unreachable")
    child.expect(f"east{STYLED}all well")
    west.start()
    child.expect(f"west{STYLED}all well", timeout=10)
    child.sendintr()
    assert end(child)[1] == 0


def test_a_server_that_hangs_holds_nobody_up(both: Cli, east: RealServer, west: RealServer) -> None:
    west.start()
    js.stream(east.url, "going", "going")
    child = both.terminal("report --watch 200ms --timeout 4s --context west --context east")
    child.expect(f"west{STYLED}all well.*east{STYLED}all well")
    assert west.process is not None
    west.process.send_signal(signal.SIGSTOP)
    try:
        time.sleep(0.5)  # what was asked before has been answered
        begin = time.monotonic()
        js.publish(east.url, "going", count=777)
        child.expect(r"going\W.*\b777\b", timeout=5)
        assert time.monotonic() - begin < 2
        child.expect(f"west{STYLED}(late|unreachable)", timeout=9)
    finally:
        west.process.send_signal(signal.SIGCONT)
    child.expect(f"west{STYLED}all well", timeout=10)
    child.sendintr()
    assert end(child)[1] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_terminal_is_restored_at_a_signal(cli: Cli, number: signal.Signals) -> None:
    child = cli.terminal("report --watch 200ms")
    child.expect("No Streams defined")
    assert child.pid
    os.kill(child.pid, number)
    left, status = end(child)
    assert LEAVE in left
    assert SHOW in left
    assert status == 128 + number


def test_count_on_a_terminal_and_ctrl_c_before_it(cli: Cli) -> None:
    child = cli.terminal("report --count 2 --watch 100ms")
    left, status = end(child)
    assert status == 0
    assert ENTER in left
    assert LEAVE in left
    child = cli.terminal("report --count 1000")
    child.expect("No Streams defined")
    child.sendintr()
    left, status = end(child)
    assert LEAVE in left
    assert status == 130


def test_sizes(cli: Cli, url: str) -> None:
    for number in range(30):
        js.stream(url, f"stream-{number:02}", f"s.{number}")
    child = cli.terminal("report --watch 60s", columns=80, rows=24)
    child.expect("more streams; --stream PATTERN or a taller terminal")
    child.setwinsize(5, 20)
    child.expect("all well: nats", timeout=3)
    child.setwinsize(50, 100)
    child.expect("stream-29", timeout=3)
    child.sendintr()
    left, status = end(child)
    assert status == 0
    assert "Traceback" not in left


def test_keys_are_not_echoed(cli: Cli) -> None:
    child = cli.terminal("report --watch 100ms")
    child.expect("No Streams defined")
    child.send("xyzzy")
    child.expect("No Streams defined")
    child.send("Q")
    left, status = end(child)
    assert "xyzzy" not in left
    assert status == 0


def test_the_reader_goes(cli: Cli) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "jsctl", *shlex.split("report --watch 100ms --json")],
        env={**os.environ, **cli.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(10) == 0
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_lines_in_a_pipe(both: Cli, west: RealServer) -> None:
    """One document a line while a server comes, dies and is killed; written as they are made."""
    west.start()
    line = "report --context west --context east --watch 100ms --json"
    process = subprocess.Popen(
        [sys.executable, "-m", "jsctl", *shlex.split(line)],
        env={**os.environ, **both.environ},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        errors = [json.loads(process.stdout.readline())["reports"][0]["error"] for _ in range(2)]
        assert errors == [None, None]
        west.kill()
        seen = ""
        for _ in range(50):
            west_now, east_now = json.loads(process.stdout.readline())["reports"]
            assert east_now["error"] is None
            if west_now["error"]:
                seen = west_now["error"]
                break
        assert "lost the connection" in seen or "connection refused" in seen
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
