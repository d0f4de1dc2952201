"""`stream wait`."""

import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import RealServer
from tests.support.waiting import wait_for

CONFIG = 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n'


def test_what_is_there_is_not_waited_for(orders: Cli, url: str) -> None:
    document = orders("stream wait ORDERS --messages 5 --json", status=0).json
    assert document == {"stream": "ORDERS", "state": js.info(url, "ORDERS")["state"]}
    orders("stream wait ORDERS --sequence 6 --timeout 1s", status=0)
    assert "has 5 messages, the last sequence is 6" in orders("stream wait ORDERS --messages 1", tty=True).err
    assert orders("stream wait ORDERS --messages 1", status=0).out == ""


def test_a_wait_ends_at_its_timeout(orders: Cli) -> None:
    for flags, words in {
        "--messages 1000": "after 200ms, stream ORDERS has 5 of 1,000 messages; jsctl stream state ORDERS",
        "--sequence 7": "after 200ms, stream ORDERS is at sequence 6, not 7",
        "--empty": "after 200ms, stream ORDERS still has 5 messages",
    }.items():
        late = orders(f"stream wait ORDERS {flags} --timeout 200ms", status=4)
        assert (late.out, words in late.err) == ("", True), late.err


def test_a_condition_is_one_that_the_stream_can_meet(cli: Cli, url: str) -> None:
    js.stream(url, "SMALL", "small", max_msgs=3)
    for flags in ("", "--messages 1 --empty", "--messages 0"):
        cli(f"stream wait SMALL {flags}", status=64)
    assert "keeps at most 3 messages" in cli("stream wait SMALL --messages 4 --timeout 1s", status=64).err


def test_messages_that_arrive_end_the_wait(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s")
    later = threading.Timer(0.3, js.publish, (url, "s", b"x", 100))
    later.start()
    assert cli("stream wait S --messages 100 --timeout 30s --json", status=0).json["state"]["messages"] == 100
    later.join()
    started = time.monotonic()
    cli("stream purge S --force", status=0)
    cli("stream wait S --empty --timeout 30s", status=0)
    assert time.monotonic() - started < 10
    assert js.info(url, "S")["state"]["consumer_count"] == 0


@pytest.mark.slow
def test_a_restart_is_waited_for_and_a_removal_is_not(tmp_path: Path) -> None:
    server = RealServer(tmp_path / "server", CONFIG).start()
    cli = Cli(tmp_path, server.url)
    try:
        js.stream(server.url, "S", "s")
        with start_waiting(cli, server, 2) as waiting:
            server.stop()
            server.start()
            wait_for(lambda: js.is_up(server.url), "the server is back")
            js.publish(server.url, "s", count=2)
            assert waiting.wait(30) == 0
        with start_waiting(cli, server, 3) as waiting:
            js.ask(server.url, "STREAM.DELETE.S")
            assert "stream S not found" in waiting.communicate(timeout=30)[1]
            assert waiting.returncode == 3
    finally:
        server.stop()


def start_waiting(cli: Cli, server: RealServer, count: int) -> "subprocess.Popen[str]":
    """Start a wait for messages, and return it once it has asked several times."""

    def count_requests() -> int:
        return int(js.ask(server.url, "INFO")["api"]["total"])

    waiting = cli.start(f"stream wait S --messages {count}", stderr=subprocess.PIPE)
    before = count_requests()
    wait_for(lambda: count_requests() > before + 30, "the stream's state is asked for")
    return waiting
