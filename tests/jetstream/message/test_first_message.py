"""Readers that wait for their first message while the server restarts."""

import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.jetstream.message.test_lost_connections import CONFIG, clients, delivered, jsctl, read_until
from tests.support import js
from tests.support.connections import connections
from tests.support.run import Cli
from tests.support.servers import HUB_LEAF_ACCOUNTS, RealServer
from tests.support.waiting import wait_for


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    running = RealServer(tmp_path / "server", CONFIG + HUB_LEAF_ACCOUNTS).start()
    yield running
    running.stop()


def requests(url: str) -> list[int]:
    """How many messages each client of an account has sent."""
    return [client["in_msgs"] for client in connections(url)]


def waiting(url: str) -> list[int]:
    """How many pulls wait at each consumer of S."""
    return [consumer["num_waiting"] for consumer in js.ask(url, "CONSUMER.LIST.S")["consumers"]]


READERS = (
    "sub --stream S --new",
    "sub --stream S --last",
    "sub --stream S --last-per-subject",
    "sub --stream S --new --direct",
    "sub --stream S --last --direct",
    "sub --stream S --last-per-subject --direct",
    "events --stream S",
    "stream view S --follow",
)


def has_text(lines: list[str], text: str) -> bool:
    return text in "".join(lines)


class Reading:
    """A command that reads until it is interrupted, and what it has printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.out: list[str] = []
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout
        self.out.extend(self.process.stdout)

    def interrupt(self) -> str:
        """End it as ctrl-C does, and return what it wrote to stderr since that was read."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(10)
        self._thread.join(10)
        assert self.process.stderr
        return self.process.stderr.read()


@pytest.mark.long
def test_nothing_is_lost_when_the_server_restarts_before_the_first_message(
    server: RealServer, tmp_path: Path
) -> None:
    url = server.url_for("acc")
    own = Cli(tmp_path / "config", url)
    js.stream(url, "S", "s", allow_direct=True)
    readings = {line: Reading(jsctl(own, *line.split())) for line in READERS}
    direct = [line for line in READERS if "--direct" in line or "view" in line]
    try:
        wait_for(lambda: clients(server.port) >= len(READERS), "not all are connected")
        wait_for(lambda: len(delivered(url)) == len(READERS) - len(direct), "not all have begun to read")
        wait_for(lambda: min(waiting(url)) > 0, "not all wait for what is new")
        wait_for(
            lambda: sum(number > 3 for number in requests(url)) == len(direct),
            "not all have asked for what is stored and what is new",
        )
        server.kill()
        for reading in readings.values():  # for longer than the timeout of a request
            read_until(reading.process, "still waiting for the connection, lost 5s ago")
        server.start()
        for number in (1, 2, 3):
            js.publish(url, "s", b'{"type": "text %d"}' % number)
        for line, reading in readings.items():
            wait_for(partial(has_text, reading.out, "text 3"), f"no messages came to {line}")
            err = reading.interrupt()
            texts = re.findall(r"text \d", "".join(reading.out))
            assert list(dict.fromkeys(texts)) == ["text 1", "text 2", "text 3"], (line, err)
    finally:
        for reading in readings.values():
            reading.process.kill()
            reading.process.communicate()
