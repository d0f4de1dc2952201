"""`jsctl service` with a service that runs in another process."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from jsctl.contexts.settings import Settings
from jsctl.nats.connection import Connection
from jsctl.nats.headers import encode_headers
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.services.statistics import Count, rows
from jsctl.views.result import Cell
from jsctl.views.service.documents import rates
from tests.support.run import Cli
from tests.support.waiting import wait_for

pytestmark = pytest.mark.slow


def start(cli: Cli, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "jsctl", "service", *args],
        env={**os.environ, **cli.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def demo(cli: Cli) -> Iterator[subprocess.Popen[str]]:
    """Two instances of `demo`; the first of them."""
    running = [start(cli, "serve", "demo", "-H", "Region:eu") for _ in range(2)]
    wait_for(lambda: len(cli("service list --json", status=0).json) == 2, "two instances answer")
    yield running[0]
    for process in running:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)


@contextmanager
def answering(url: str, answers: dict[str, list[tuple[bytes, bytes]]]) -> Iterator[None]:
    """Answers requests on subjects with headers and data, in a thread of its own."""
    import threading

    ready, stop = threading.Event(), threading.Event()

    async def work() -> None:
        connection = await Connection.open(Settings(url=url))

        def answer(message: Message) -> None:
            for block, data in answers[message.subject]:
                connection.post(OutgoingMessage(message.reply, data, "", block).encode())

        for subject in answers:
            await connection.receive(subject, answer).__aenter__()
        await connection.flush()
        ready.set()
        await asyncio.to_thread(stop.wait)
        await connection.close()

    thread = threading.Thread(target=lambda: asyncio.run(work()))
    thread.start()
    assert ready.wait(10)
    try:
        yield
    finally:
        stop.set()
        thread.join()


def reply(verb: str, **more: Any) -> tuple[bytes, bytes]:
    document = {"type": f"io.nats.micro.v1.{verb}_response", "name": "W", "id": "1", "version": "1.0.0"}
    return b"", json.dumps({**document, **more}).encode()


def test_a_service_is_found_and_used(demo: subprocess.Popen[str], cli: Cli) -> None:
    listed = cli("service list", status=0).out
    assert listed.count("demo") == 2
    infos = cli("service info demo --json", status=0).json
    assert infos[0]["endpoints"][0]["subject"] == "demo.echo"
    assert cli(f"service info demo {infos[0]['id']} --json", status=0).json == infos[0]
    assert "demo.echo" in cli("service info demo", status=0).out
    assert "Endpoint echo" not in cli("service info demo -e nothing", status=0).out
    answered = cli("service request demo echo 'hello {{Count}}' -r --count 3", status=0)
    assert answered.out == "hello 1\nhello 2\nhello 3\n"
    headers = cli("service request demo echo x --json", status=0).json["headers"]
    assert headers
    stats = cli("service stats demo --json", status=0).json
    assert sum(one["endpoints"][0]["num_requests"] for one in stats) == 4
    pings = cli("service ping --json", status=0).json
    assert len(pings) == 2 and pings[0]["rtt_ns"] > 0
    assert "no endpoint nope; its endpoints: echo" in cli("service request demo nope", status=3).err
    assert "did you mean demo?" in cli("service info demi", status=3).err
    assert "no instance X" in cli("service info demo X", status=3).err
    demo.send_signal(signal.SIGINT)
    assert demo.wait(10) == 0


def test_nobody_answers(cli: Cli) -> None:
    assert "No services answered" in cli("service list", status=0).out
    assert cli("service ping --json", status=0).json == []
    assert "not found" in cli("service stats nope", status=3).err
    assert "not a valid service name" in cli("service serve 'a b'", status=64).err


def test_malformed_replies_are_named_and_left_out(cli: Cli, url: str) -> None:
    schema = {"request": json.dumps({"type": "object"})}
    endpoint = {"name": "e", "subject": "w.e", "metadata": schema}
    answers = [
        (b"", b"no json"),
        reply("ping"),
        reply("info", id=7),
        reply("info", endpoints=[{"name": "e", "metadata": {"a": 1}}]),
        reply("info", metadata=None, endpoints=[endpoint]),
    ]
    with answering(url, {"$SRV.INFO": answers, "$SRV.INFO.W": answers, "$SRV.PING": [(b"", b"[]")]}):
        listed = cli("service list --json", status=0)
        assert [one["id"] for one in listed.json] == ["1"]
        assert listed.err.count("a reply is left out") == 4
        assert "its type is 'io.nats.micro.v1.ping_response'" in listed.err
        assert '"type": "object"' in cli("service info W", status=0).out
    plain = reply("info", description=None)
    with answering(url, {"$SRV.INFO": [plain]}):
        assert [one["id"] for one in cli("service list --json", status=0).json] == ["1"]
    with answering(url, {"$SRV.>": []}):  # somebody who listens and says nothing
        for line in ("stats nope", "info nope", "ping nope", "stats nope X"):
            assert "nope" in cli(f"service {line}", status=3).err
        assert cli("service ping --json", status=0).json == []
    with answering(url, {"$SRV.INFO": answers[:2]}):
        assert "no reply on $SRV.INFO is one of a service" in cli("service list", status=1).err


def test_an_error_of_a_service_is_status_1(cli: Cli, url: str) -> None:
    endpoints = [{"name": "e", "subject": "w.e"}, {"name": "wild", "subject": "w.*"}]
    failing = encode_headers([("Nats-Service-Error", "broken"), ("Nats-Service-Error-Code", "500")])
    with answering(url, {"$SRV.INFO.W": [reply("info", endpoints=endpoints)], "w.e": [(failing, b"")]}):
        assert "broken (500)" in cli("service request W e x", status=1).err
        assert "jsctl request" in cli("service request W wild x", status=64).err


def test_rates_and_skew() -> None:
    key = ("S", "e", "1"), ("S", "e", "2")
    before = {key[0]: Count(10, 0, 100), key[1]: Count(10, 0, 100)}
    now = {key[0]: Count(40, 1, 400), key[1]: Count(20, 0, 200)}
    [row] = rows(now, before, 2.0)
    assert (row.requests, row.rate, row.error_rate, row.average, row.skew) == (60, 20.0, 0.5, 10, 1.5)
    [restarted] = rows({key[0]: Count(5, 0, 50)}, before, 1.0)
    assert restarted.rate == 5.0
    [idle] = rows(now, now, 1.0)
    assert (idle.rate, idle.average, idle.skew) == (0.0, -1, 0.0)
    assert list(rates([idle]).parts[0].rows[0][-2:]) == [Cell(None, "-")] * 2  # type: ignore[union-attr]


def test_stats_watch(demo: subprocess.Popen[str], cli: Cli) -> None:
    watching = start(cli, "stats", "--watch", "--every", "100ms", "--json")
    assert watching.stdout is not None
    first = json.loads(watching.stdout.readline())
    assert first[0]["instances"] == 2 and first[0]["rate"] == 0
    cli("service request demo echo x --count 20 -r", status=0)
    assert any(json.loads(watching.stdout.readline())[0]["rate"] > 0 for _ in range(20))
    watching.send_signal(signal.SIGINT)
    watching.communicate(timeout=10)
