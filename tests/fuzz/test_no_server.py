"""Programs that are no servers of NATS, or that answer without end: one line, soon, in little memory."""

import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from jsctl.nats.message import REPLIES_SIZE
from jsctl.spark.source.planning import ELECTION_SECONDS
from tests.fuzz.commands import without_spark
from tests.fuzz.record import Record, max_seconds
from tests.support.hostile import answer_without_end, info, log_in, serving
from tests.support.run import Cli

LINES = (
    "stream ls",
    "kv get B key",
    "pub x y",
    "request x y",
    "service list",
    "service ping",
    "rtt",
    "report",
    "account info",
    "account report connections",
    "server ping",
    "server account info A",
    "object ls",
    "counter list",
    "sub x --count 1 --wait 300ms",
    "server check connection",
)
"""Each kind of connection and of request."""


def drip(client: socket.socket) -> None:
    """Send INFO without end, a byte at a time."""
    client.sendall(b"INFO {")
    while True:
        client.sendall(b" ")
        time.sleep(0.02)


def repeat_info(client: socket.socket) -> None:
    while True:
        client.sendall(info())
        time.sleep(0.02)


def echo(client: socket.socket) -> None:
    while data := client.recv(65536):
        client.sendall(data)


def speak_http(client: socket.socket) -> None:
    while client.recv(65536):
        client.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def listen(client: socket.socket) -> None:
    while client.recv(65536):
        pass


def say_nothing(client: socket.socket) -> None:
    log_in(client)
    listen(client)


SERVERS: dict[str, Callable[[socket.socket], None]] = {
    "says nothing": listen,
    "says INFO in drips": drip,
    "says INFO again and again": repeat_info,
    "echoes": echo,
    "speaks HTTP": speak_http,
    "answers no request": say_nothing,
    "answers without end": answer_without_end(b"x" * (1 << 20)),
    "answers empty without end": answer_without_end(b""),
}


@pytest.mark.long
@pytest.mark.parametrize("name", SERVERS)
def test_servers(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cli = Cli(tmp_path)
    cli("stream ls", environ={"NATS_URL": "nats://127.0.0.1:1"}, status=4)  # what is imported is no answer
    with serving(SERVERS[name]) as url, Record(f"a server that {name}") as record:
        for line in LINES:
            started = time.monotonic()
            outcome = cli(f"{line} --timeout 300ms", environ={"NATS_URL": url})
            spent = time.monotonic() - started
            record.slowest = max(record.slowest, spent)
            assert spent < max_seconds(), (line, spent)
            assert "bug in jsctl" not in outcome.err, (line, outcome.err)
            assert outcome.err.count("\n") < 15, (line, outcome.err)
            record.count(f"status {outcome.status}")


EXPORTS = (
    "export stream S --to {}/stream",
    "export stream S --to {}/stream --follow",
    "export kv B --to {}/kv",
    "export objects B --to {}/objects",
    "export reports --to {}/reports",
    "import {}/rows.json --stream S",
)


def greet(client: socket.socket) -> None:
    client.sendall(info())
    listen(client)


@pytest.mark.long
@pytest.mark.parametrize("serve", [listen, greet, say_nothing])
def test_exports(serve: Callable[[socket.socket], None], tmp_path: Path) -> None:
    """Spark is not started for a server that does not answer, and nothing is left."""
    (tmp_path / "rows.json").write_text('{"subject": "s", "data": "x"}\n')
    cli = Cli(tmp_path / "config")
    with without_spark(), serving(serve) as url, Record(f"exports of a server: {serve.__name__}") as record:
        for line in EXPORTS:
            started = time.monotonic()
            outcome = cli(f"{line.format(tmp_path)} --timeout 300ms", environ={"NATS_URL": url}, status=4)
            record.slowest = max(record.slowest, time.monotonic() - started)
            assert outcome.err.count("\n") == 1, (line, outcome.err)
            record.count("status 4")
        waited = ELECTION_SECONDS if serve is say_nothing else 0  # its streams may be without a leader
        assert record.slowest < max_seconds() + waited
    assert {path.name for path in tmp_path.iterdir()} <= {"rows.json", "config"}


def test_replies_are_bounded(tmp_path: Path) -> None:
    with serving(answer_without_end(b"x" * (1 << 20))) as url:
        refused = Cli(tmp_path, url)("service list", status=1)
    assert refused.err == (f"jsctl: error: the replies on $SRV.INFO have more than {REPLIES_SIZE:,} bytes\n")
