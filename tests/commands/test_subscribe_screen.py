"""`sub --report-subjects` and `sub --graph` on a terminal: the screen that all have."""

import os
import re
import signal

import pytest

from tests.support import js
from tests.support.emulator import Watched
from tests.support.run import Cli


@pytest.mark.slow
def test_a_report_on_a_screen(cli: Cli, url: str) -> None:
    watched = Watched(cli.terminal("sub 's.>' --report-subjects --report-top 3", columns=80, rows=24))
    watched.until("no messages yet")
    for number in range(5):
        js.send(url, f"s.{number}", b"12345", count=number + 1)
    watched.until(lambda text: "15 messages, 75 B, 5 subjects" in text and re.search(r"s\.4 +5 +25 B", text))
    assert "s.1" not in watched.screen.text
    watched.press("p")
    watched.until("paused")
    js.send(url, "s.9", b"x", count=9)
    watched.press("/s.3")
    watched.until(lambda text: "s.4" not in text)
    watched.press("\x1bp")
    watched.until(lambda text: re.search(r"s\.9 +9 +9 B", text))
    watched.press("q")
    assert watched.end() == 0
    assert not watched.screen.alternate
    assert "Top 3 Active Subjects Report, of 6" in watched.screen.text, "the whole report stays"
    assert "Totals" in watched.screen.text


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 0)]
)
def test_the_terminal_is_given_back_by_a_report(cli: Cli, number: signal.Signals, status: int) -> None:
    watched = Watched(cli.terminal("sub 's.>' --graph"))
    watched.until("s.>: 0 / second")
    assert watched.child.pid
    os.kill(watched.child.pid, number)
    assert watched.end() == status
    assert not watched.screen.alternate and not watched.screen.cursor_hidden
