"""Ctrl-C of what receives and publishes, in a real terminal."""

import re

import pytest

from tests.jetstream.message.test_lost_connections import ended
from tests.support import js
from tests.support.emulator import Watched
from tests.support.run import Cli


def test_ctrl_c_shows_the_summary(cli: Cli, url: str) -> None:
    process = cli.terminal("sub a.>")
    process.expect("Subscribing on a.>")
    js.send(url, "a.b", b"hello", 3)
    process.expect(r"\[#3\]")
    process.sendintr()
    process.expect(r"Received 3 messages, 15 B in ")
    assert ended(process) == 0


def test_ctrl_c_before_the_count(cli: Cli) -> None:
    process = cli.terminal("sub a.> --count 5")
    process.expect("Subscribing on a.>")
    process.sendintr()
    process.expect("ended after 0 of 5 messages")
    assert ended(process) == 130


def test_ctrl_c_of_a_stream_leaves_no_consumer(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s")
    js.publish(url, "s", b"x", 2)
    process = cli.terminal("sub --stream S --all")
    process.expect(r"\[#2\]")
    process.sendintr()
    process.expect("Received 2 messages")
    assert ended(process) == 0
    assert js.ask(url, "STREAM.INFO.S")["state"]["consumer_count"] == 0


def test_ctrl_c_of_events_and_pub(cli: Cli) -> None:
    watching = cli.terminal("events")
    watching.expect("AUTH.ERR")
    watching.sendintr()
    assert ended(watching) == 0
    publishing = cli.terminal("pub a x --count 1000 --sleep 50ms")
    publishing.expect("Publishing")
    publishing.sendintr()
    publishing.expect("Stopped after [0-9]+ messages?")
    assert ended(publishing) == 130


def test_ctrl_c_while_stdin_is_read(cli: Cli) -> None:
    process = cli.terminal("pub a")
    process.expect("Reading payload from STDIN")
    process.sendintr()
    assert ended(process) == 130


@pytest.mark.slow
def test_a_live_report_of_subjects(cli: Cli, url: str) -> None:
    watched = Watched(cli.terminal("sub a.> --report-subjects"))
    watched.until("no messages yet")
    js.send(url, "a.b", b"hello", 3)
    watched.until(lambda text: re.search("a.b +3 +15 B", text))
    watched.press("\x03")
    assert watched.end() == 0
    assert "Received 3 messages" in watched.screen.text
    assert re.search("a.b +│ +3 +│ +15 B", watched.screen.text)
