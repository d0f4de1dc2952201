"""`stream graph`: charts on a terminal, lines in a pipe."""

import json
import re

import pexpect
import pytest

from tests.support import js
from tests.support.emulator import Watched
from tests.support.run import Cli
from tests.support.tables import read_table


def test_in_a_pipe(cli: Cli, url: str) -> None:
    js.stream(url, "G", "g")
    js.publish(url, "g", b"x", count=5)
    first, second = read_table(cli("stream graph G --count 2 --every 100ms", status=0).out)
    assert list(first) == ["Time", "Messages", "Stored/s", "Removed/s"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)", second["Time"])
    assert (second["Messages"], second["Stored/s"], second["Removed/s"]) == ("5", "0.00", "0.00")
    outcome = cli("stream graph G --count 2 --every 100ms --json", status=0).out.splitlines()
    assert [json.loads(line)["messages"] for line in outcome] == [5, 5]


@pytest.mark.slow
def test_rates(cli: Cli, url: str) -> None:
    js.stream(url, "G", "g", max_msgs=10)
    child = cli.terminal("stream graph G --as plain --every 500ms")
    child.expect(r"0 +0\.00 +0\.00\r\n")
    js.publish(url, "g", b"x", count=100)
    child.expect(r" 10 +(\d+\.\d\d) +(\d+\.\d\d)\r\n")
    assert isinstance(child.match, re.Match)
    stored, removed = float(child.match[1]), float(child.match[2])
    assert stored > removed > 0
    assert removed / stored == pytest.approx(0.9, abs=0.01)
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


@pytest.mark.slow
@pytest.mark.parametrize("ends", ["ctrl-c", "q"])
def test_on_a_terminal(cli: Cli, url: str, ends: str) -> None:
    js.stream(url, "G", "g")
    watched = Watched(cli.terminal("stream graph G --every 200ms", columns=80, rows=30))
    watched.until("Stream Statistics for G")
    assert watched.screen.alternate
    for caption in ("Messages Stored", "Messages Removed / second", "Messages Stored / second"):
        watched.until(caption)
    js.publish(url, "g", b"x", count=50)
    watched.until("50 ┤")
    watched.press("q" if ends == "q" else "\x03")
    assert watched.end() == 0
    assert not watched.screen.alternate


@pytest.mark.slow
def test_keys(cli: Cli, url: str) -> None:
    """Those of every screen: pause, now, the interval, help, another size; ended streams are said."""
    js.stream(url, "G", "g")
    watched = Watched(cli.terminal("stream graph G --every 200ms", columns=80, rows=30))
    watched.until("0 ┤")
    watched.press("p")
    watched.until("paused")
    js.publish(url, "g", b"x", count=50)
    watched.press("r")
    watched.until("50 ┤")
    watched.press(" +")
    watched.until("every 500ms")
    watched.press("?")
    watched.until("ask less often")
    assert "filter" not in watched.screen.text
    watched.press("?/J:")
    watched.until("Messages Stored")
    watched.resize(200, 60)
    watched.until("q quit")
    watched.resize(60, 12)
    watched.until("please increase terminal dimensions")
    watched.resize(80, 24)
    watched.until("50 ┤")
    js.ask(url, "STREAM.DELETE.G")
    watched.until("stream G not found")
    assert "50 ┤" in watched.screen.text
    js.stream(url, "G", "g")
    watched.until(lambda text: "stream G not found" not in text)
    watched.press("q")
    assert watched.end() == 0
    assert not watched.screen.alternate and "Messages Stored" in watched.screen.text, "the last picture stays"


def test_a_small_terminal(cli: Cli, url: str) -> None:
    js.stream(url, "G", "g")
    watched = Watched(cli.terminal("stream graph G --every 200ms --count 2", columns=80, rows=10))
    watched.until("please increase terminal dimensions")
    assert watched.end() == 0


def test_wrong_flags(cli: Cli) -> None:
    assert "too short" in cli("stream graph G --every 1ms", status=64).err
    assert "no table" in cli("stream graph G --as csv", status=64).err
