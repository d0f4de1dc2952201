"""`jsctl report --watch` in a real pseudo-terminal, with servers that die and come back."""

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import js
from tests.support.emulator import Watched
from tests.support.processes import suspend
from tests.support.run import Cli
from tests.support.servers import HubLeaf, RealServer

ENTER = "\x1b[?1049h"


ACCOUNT = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
accounts {
  A { jetstream: enabled, users: [{user: acc, password: acc}] }
  OTHER { jetstream: enabled, users: [{user: other, password: other}] }
}
"""


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


@pytest.mark.slow
def test_two_domains_on_one_screen(hub_cli: Cli, hub_leaf: HubLeaf) -> None:
    js.stream(hub_leaf.url, "test", "test", domain="leaf")
    js.stream(
        hub_leaf.url, "copy", domain="hub", mirror={"name": "test", "external": {"api": "$JS.leaf.API"}}
    )
    watched = Watched(hub_cli.terminal("report --watch 200ms --js-domain hub --js-domain leaf"))
    watched.until(lambda text: re.search(r"hub +copy", text) and re.search(r"leaf +test", text))
    assert watched.screen.alternate
    assert watched.screen.cursor_hidden
    watched.press("3")
    watched.until(lambda text: re.search(r"hub +copy +mirror +test +\$JS.leaf.API", text))
    watched.press("q")
    assert watched.end() == 0
    assert not watched.screen.alternate
    assert not watched.screen.cursor_hidden
    assert "mirror" in watched.screen.text, "the last picture stays"


@pytest.mark.slow
def test_a_killed_server_keeps_its_numbers_and_comes_back(
    both: Cli, east: RealServer, west: RealServer
) -> None:
    west.start()
    js.stream(east.url, "going", "going")
    js.stream(west.url, "staying", "staying")
    watched = Watched(both.terminal("report --watch 200ms --context east --context west"))
    watched.until(lambda text: "going" in text and "staying" in text)
    west.kill()
    watched.until("west unreachable, its numbers are")
    js.publish(east.url, "going", count=777)
    text = watched.until(lambda text: re.search(r"going +777", text))
    assert "staying" in text
    west.start()
    watched.until(lambda text: "unreachable" not in text)
    watched.press("\x03")
    assert watched.end() == 0
    assert not watched.screen.alternate
    assert "connection lost" not in watched.written


@pytest.mark.slow
def test_an_account_whose_jetstream_is_taken_away_and_given_back(offline_cli: Cli, tmp_path: Path) -> None:
    server = RealServer(tmp_path / "server", ACCOUNT).start()
    try:
        js.stream(server.url_for("acc"), "ORDERS", "orders")
        offline_cli(f"context add acc --server {server.url_for('acc')}", status=0)
        watched = Watched(offline_cli.terminal("report --watch 200ms --context acc"))
        watched.until("ORDERS")
        enabled = server.config.read_text()
        server.config.write_text(enabled.replace("A { jetstream: enabled", "A { jetstream: disabled"))
        server.reload()
        note = "acc without JetStream, its numbers are"
        watched.until(lambda text: note in text and "ORDERS" in text)  # the screen may be half drawn
        server.config.write_text(enabled)
        server.reload()
        watched.until(lambda text: "without" not in text)
        js.publish(server.url_for("acc"), "orders", count=777)
        watched.until(" 777 ")
        watched.press("q")
        assert watched.end() == 0
    finally:
        server.stop()


@pytest.mark.slow
def test_a_server_that_starts_later(both: Cli, east: RealServer, west: RealServer) -> None:
    js.stream(east.url, "going", "going")
    watched = Watched(both.terminal("report --watch 200ms --context west --context east"))
    watched.until(lambda text: "west unreachable: " in text and "going" in text)
    west.start()
    watched.until(lambda text: "unreachable" not in text)
    watched.press("q")
    assert watched.end() == 0


@pytest.mark.slow
def test_a_context_that_cannot_be_reached_is_a_problem(both: Cli, east: RealServer, west: RealServer) -> None:
    """A row of its own: counted, and openable. The tabs keep the counts that were last known."""
    js.stream(east.url, "going", "going")
    watched = Watched(both.terminal("report --watch 200ms --context east --context west"))
    watched.until("1 Streams 1 ")
    watched.until("6 Problems 1")  # counted before it is opened
    watched.press("6")
    watched.until(lambda text: re.search(r"1 Streams 1 .* 6 Problems 1", text))
    row = watched.until(lambda text: re.search(r"● west +context +west +unreachable", text))
    assert row
    watched.press("\r")
    watched.until("connection refused")
    watched.until("jsctl doctor --context west")
    watched.press("\x1b")
    west.start()
    watched.until("nothing is wrong")
    watched.press("1")
    watched.until("6 Problems 0")
    west.kill()
    watched.until("6 Problems 1")  # and again after it was
    watched.press("q")
    assert watched.end() == 0


@pytest.mark.long
def test_a_server_that_hangs_delays_nobody(both: Cli, east: RealServer, west: RealServer) -> None:
    west.start()
    js.stream(east.url, "going", "going")
    watched = Watched(both.terminal("report --watch 200ms --timeout 4s --context west --context east"))
    watched.until("going")
    assert west.process is not None
    suspend(west.process.pid)
    try:
        js.publish(east.url, "going", count=777)
        watched.until(lambda text: re.search(r"going +777", text), 3)
        watched.until(lambda text: re.search("west (late|unreachable)", text))
    finally:
        west.process.send_signal(signal.SIGCONT)
    watched.until(lambda text: "west late" not in text and "unreachable" not in text)
    watched.press("q")
    assert watched.end() == 0


@pytest.mark.slow
def test_count_on_a_terminal_and_ctrl_c_before_it(cli: Cli) -> None:
    watched = Watched(cli.terminal("report --count 2 --watch 100ms"))
    assert watched.end() == 0
    assert ENTER in watched.written
    assert not watched.screen.alternate
    watched = Watched(cli.terminal("report --count 1000"))
    watched.until("there are no streams")
    watched.press("\x03")
    assert watched.end() == 130
    assert not watched.screen.alternate


@pytest.mark.slow
def test_sizes(cli: Cli, url: str) -> None:
    for number in range(30):
        js.stream(url, f"stream-{number:02}", f"s.{number}")
    watched = Watched(cli.terminal("report --watch 60s", columns=80, rows=24))
    watched.until("stream-19")
    assert "stream-29" not in watched.screen.text
    watched.press("G")
    watched.until("stream-29")
    watched.resize(20, 5)
    watched.until(lambda text: re.search(r"str\S*29", text))
    watched.resize(200, 60)
    watched.until(lambda text: "stream-00" in text and "stream-29" in text)
    watched.press("q")
    assert watched.end() == 0
    assert "Traceback" not in watched.written


@pytest.mark.slow
def test_keys(cli: Cli, url: str) -> None:
    """The everyday: filter, only what is wrong, a stream's page, its consumer's page, the line for a row."""
    js.stream(url, "ORDERS", "orders.>")
    js.stream(url, "IDLE", "idle.>")
    config = {"durable_name": "work", "ack_policy": "explicit"}
    js.ask(url, "CONSUMER.CREATE.ORDERS.work", {"stream_name": "ORDERS", "config": config})
    js.publish(url, "orders.new", count=3)
    watched = Watched(cli.terminal("report --watch 200ms --filter '!IDLE'"))
    watched.until(lambda text: "  ORDERS" in text and "  IDLE" not in text)
    watched.press("\x1b")
    watched.until("  IDLE")
    watched.press("2")
    watched.until(lambda text: re.search(r"ORDERS +work +3 .*nobody pulls", text))
    watched.press("y")
    watched.until("jsctl consumer next ORDERS work --no-ack")
    watched.press("\r")
    watched.until("no client requests them")
    watched.press("\x1b")
    watched.until("Unacked")
    watched.press("6f")
    watched.until("ORDERS > work")
    watched.press("1:ORD\r")
    watched.until("only what is wrong")
    watched.press("f")
    watched.until("IDLE")
    watched.press(":ORD\r\r")
    watched.until("Information for Stream ORDERS")
    watched.press("q")
    assert watched.end() == 0
    assert "jsctl consumer next ORDERS work --no-ack" in watched.screen.text, "what y gave stays"


@pytest.mark.slow
def test_recorded_and_replayed(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    config = {"durable_name": "work", "ack_policy": "explicit"}
    js.ask(url, "CONSUMER.CREATE.ORDERS.work", {"stream_name": "ORDERS", "config": config})
    file = tmp_path / "rounds"
    watched = Watched(cli.terminal(f"report --record {file} --watch 200ms"))
    watched.until("  ORDERS")
    js.publish(url, "orders.new", count=7)
    watched.until(lambda text: re.search(r"ORDERS +7", text))
    watched.press("q")
    assert watched.end() == 0
    rounds = cli(f"report --record {file} --count 2 --watch 1s --json", status=0).out.splitlines()
    assert len(rounds) == 2
    lines = [json.loads(line) for line in cli(f"report --replay {file} --json", status=0).out.splitlines()]
    assert len(lines) >= 4
    assert [line["reports"][0]["streams"][0]["messages"] for line in lines][-1] == 7
    known = [json.loads(line)["at"][:18] for line in rounds]
    assert lines[-1]["at"][:18] in known, "times are those of the recording"
    replay = Watched(cli.terminal(f"report --replay {file} --part consumers"))
    replay.until(lambda text: re.search(r"ORDERS +work", text))
    replay.press("}}}}")
    replay.until(f"round {len(lines)} of {len(lines)}, 1x, paused")
    replay.until(lambda text: re.search(r"ORDERS +work +7", text))
    replay.press("{{{{")
    replay.until("round 1 of")
    replay.press("1")
    replay.until(lambda text: re.search(r"ORDERS +0", text))
    replay.press("q")
    assert replay.end() == 0
    assert "--keep needs --record" in cli("report --keep 1h", status=64).err
    assert "shows a recorded file" in cli(f"report --replay {file} --record x", status=64).err


@pytest.mark.slow
def test_pause(cli: Cli, url: str) -> None:
    js.stream(url, "going", "going.>")
    watched = Watched(cli.terminal("report --watch 100ms"))
    watched.until(lambda text: re.search(r"going +0", text))
    watched.press("p")
    watched.until("paused")
    js.publish(url, "going.x", count=5)
    watched.press("?")
    watched.until("None of them changes anything on a server")
    watched.press("?")
    assert re.search(r"going +0", watched.until("going"))
    watched.press("r")
    watched.until(lambda text: re.search(r"going +5", text))
    watched.press("qq")
    assert watched.end() == 0


@pytest.mark.slow
def test_counters_that_go_back(cli: Cli, url: str) -> None:
    """A purge and a stream that is made anew: said, and no rate of millions, neither back nor forth."""
    js.stream(url, "going", "going.>")
    js.publish(url, "going.x", count=500)
    watched = Watched(cli.terminal("report --watch 1s"))
    watched.until(lambda text: re.search(r"going +500 .* 0 ", text))
    js.ask(url, "STREAM.PURGE.going")
    watched.until(lambda text: re.search(r"going +0 .*purged", text))
    watched.until(lambda text: re.search(r"going +0 .* 0 ", text))
    js.ask(url, "STREAM.DELETE.going")
    js.stream(url, "going", "going.>")
    js.publish(url, "going.x", count=3)
    watched.until(lambda text: re.search(r"going +3 .*recreated", text))
    watched.press("q")
    assert watched.end() == 0
    assert not re.search(r"-\d+/s|\d{4,}/s", watched.written)


def test_flags_that_are_wrong(cli: Cli) -> None:
    assert "not a valid regular expression" in cli("report --watch --filter [", status=64).err
    assert "is not one of" in cli("report --watch --part nope", status=64).err
    assert "--all-contexts cannot be used with" in cli("report --all-contexts --context a", status=64).err
    assert "there are no contexts" in cli("report --all-contexts", status=3).err
    assert "there is no group 'prod'" in cli("report --group prod", status=3).err


def test_groups_of_contexts(both: Cli, east: RealServer) -> None:
    folder = both.home / "jsctl" / "groups"
    folder.mkdir(parents=True)
    (folder / "ours").write_text("east  # the hub\n\nwest\n")
    reports = both("report --group ours --context east --json", status=4).json["reports"]
    assert [one["context"] for one in reports] == ["east", "west"]
    assert [one["context"] for one in both("report --all-contexts --json", status=4).json["reports"]] == [
        "east",
        "west",
    ]


def test_the_reader_goes(cli: Cli) -> None:
    process = cli.start("report --watch 100ms --json")
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
    process = both.start(line, stderr=None)
    assert process.stdout is not None
    try:
        documents = (json.loads(process.stdout.readline()) for _ in range(100))
        assert any(document["reports"][0]["error"] is None for document in documents), "no answer"
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
