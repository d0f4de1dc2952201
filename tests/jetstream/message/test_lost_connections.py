"""Messages when things go wrong: ctrl-C in a real terminal, a server that is killed, readers that stall."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pexpect
import pytest

from jsctl.base.loops import enter_event_loop, run
from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.jetstream.api import Api
from jsctl.jetstream.message import browse
from jsctl.nats.connection import Connection
from tests.jetstream.consumer.test_imports import ACCOUNTS, PREFIX, STREAM
from tests.support import js
from tests.support.relay import relay
from tests.support.run import Cli, Terminal
from tests.support.servers import HubLeaf, RealServer
from tests.support.waiting import wait_for

CONFIG = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    running = RealServer(tmp_path / "server", CONFIG).start()
    yield running
    running.stop()


@pytest.fixture
def own(server: RealServer, tmp_path: Path) -> Cli:
    """jsctl against a server that may be killed."""
    return Cli(tmp_path / "config", server.url)


def jsctl(cli: Cli, *args: str, **more: Any) -> subprocess.Popen[str]:
    return cli.start(args, environ={"PYTHONUNBUFFERED": "1"}, **more)


def read_until(stream: subprocess.Popen[str], wanted: str) -> list[str]:
    """Lines of stderr up to one that holds `wanted`."""
    assert stream.stderr
    lines: list[str] = []
    while True:
        line = stream.stderr.readline()
        assert line, lines
        lines.append(line)
        if wanted in line:
            return lines


def clients(port: int) -> int:
    """How many connections a port of this host has."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(line[1].endswith(f":{port:04X}") and line[3] == "01" for line in lines)


def delivered(url: str) -> list[int]:
    """How much each consumer of S has delivered."""
    consumers = js.ask(url, "CONSUMER.LIST.S")["consumers"]
    return [consumer["delivered"]["stream_seq"] for consumer in consumers]


def ack_floor(url: str) -> int:
    """Up to where the only consumer of S has everything acknowledged."""
    [consumer] = js.ask(url, "CONSUMER.LIST.S")["consumers"]
    return int(consumer["ack_floor"]["stream_seq"])


@pytest.mark.slow
@pytest.mark.parametrize("direct", [True, False])
def test_a_read_goes_on_after_lost_connections(server: RealServer, direct: bool) -> None:
    """At once, as nothing comes any more: not after the time for an answer."""
    js.stream(server.url, "S", "s.>", allow_direct=direct)
    count = 9000 if direct else 900
    js.publish(server.url, "s.a", b"x" * 1000, count=count)

    async def read(url: str) -> list[int]:
        connection = await Connection.open(Settings(url=url, timeout=20 * SECOND))
        try:
            await enter_event_loop()
            found: list[int] = []
            reading = browse.read(Api(connection), "S", last=count, bulk=direct, batch=1500)
            async with aclosing(reading) as messages:
                async for message in messages:
                    found.append(message.sequence)
                    if len(found) in (count // 3, count // 2):
                        line.cut_at_answer()
            return found
        finally:
            await connection.close()

    with relay(server.port) as line:
        began = time.monotonic()
        assert run(read(line.url)) == [*range(1, count + 1)]
        assert time.monotonic() - began < 15


def ended(process: Terminal) -> int | None:
    process.expect(pexpect.EOF)
    process.close()
    status: int | None = process.exitstatus
    return status


def test_core_survives_a_killed_server(own: Cli, server: RealServer) -> None:
    process = jsctl(own, "sub", "a", "--count", "2")
    try:
        read_until(process, "Subscribing on a")
        js.send(server.url, "a", b"before")
        assert process.stdout
        while "before" not in process.stdout.readline():
            pass
        server.kill()
        lost = read_until(process, "connection lost")
        server.start()
        again = read_until(process, "missed")
        js.send(server.url, "a", b"after")
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert "after\n" in out and process.returncode == 0
    assert len(lost) == 1 and any("connected again" in line for line in again)
    assert "Received 2 messages" in err
    assert "connection lost 1 time; connected again 1 time" in err


@pytest.mark.long
@pytest.mark.parametrize("flags", [[], ["--direct"], ["--durable", "D"]])
def test_a_stream_survives_a_killed_server(flags: list[str], own: Cli, server: RealServer) -> None:
    js.stream(server.url, "S", "s", allow_direct=True)
    js.publish(server.url, "s", b"x", 5000)
    process = jsctl(own, "sub", "--stream", "S", "--all", "--json", *flags)
    seen: list[int] = []

    def read() -> None:
        assert process.stdout
        for line in process.stdout:
            seen.append(json.loads(line)["sequence"])

    reader = threading.Thread(target=read)
    reader.start()
    try:
        wait_for(lambda: len(seen) >= 5000, "it took too long")
        if flags[:1] == ["--durable"]:
            wait_for(lambda: ack_floor(server.url) == 5000, "not all was acknowledged")
        server.kill()
        read_until(process, "connection lost")
        server.start()
        js.publish(server.url, "s", b"y", 100)
        # A killed server may know of deliveries and not of their acks: it then waits for these, 30 s.
        wait_for(lambda: 5100 in seen[5000:], "it took too long", 45)
        process.send_signal(signal.SIGINT)
        process.wait(10)
        reader.join(10)
        assert process.stderr
        result = process.stderr.read()
    finally:
        process.kill()
        process.communicate()
    assert set(seen) == set(range(1, 5101))
    if flags[:1] != ["--durable"]:  # a killed server forgets the last acks, and a durable one delivers again
        assert seen == sorted(set(seen))
    assert "connection lost 1 time; connected again 1 time" in result
    if not flags:  # direct gets need not notice an outage between two of them
        assert "reading started again" in result
    assert process.returncode == 0


def test_a_consumer_that_is_removed(own: Cli, server: RealServer) -> None:
    js.stream(server.url, "S", "s")
    js.publish(server.url, "s", b"x", 3)
    process = jsctl(own, "sub", "--stream", "S", "--all", "--raw", "--count", "4")
    try:
        wait_for(lambda: delivered(server.url) == [3], "the messages were not delivered")
        [name] = js.ask(server.url, "CONSUMER.NAMES.S")["consumers"]
        js.ask(server.url, f"CONSUMER.DELETE.S.{name}")
        read_until(process, "continuing after sequence 3")
        js.publish(server.url, "s", b"last")
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert out == "x\nx\nx\nlast\n"
    assert "reading started again 1 time" in err


def test_a_stream_that_is_removed_is_an_error(own: Cli, server: RealServer) -> None:
    js.stream(server.url, "S", "s")
    process = jsctl(own, "sub", "--stream", "S", "--all")
    try:
        wait_for(lambda: delivered(server.url) == [0], "there is no consumer")
        js.ask(server.url, "STREAM.DELETE.S")
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 3 and "stream S not found" in err


@pytest.mark.slow
def test_a_reader_that_stalls_is_reported(tmp_path: Path) -> None:
    server = RealServer(tmp_path / "server", CONFIG + 'write_deadline: "1s"\nmax_pending: 1MB\n').start()
    own = Cli(tmp_path / "config", server.url)
    process = subprocess.Popen(
        [sys.executable, "-m", "jsctl", "sub", "a"],
        env={**os.environ, **own.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
    try:
        assert process.stderr and b"Subscribing on a" in process.stderr.readline()
        js.send(server.url, "a", b"x" * 1000, 30_000)
        wait_for(lambda: "Slow Consumer Detected" in server.log.read_text(), "the server waits for it")
        assert process.stdout and process.stderr
        drain = threading.Thread(target=process.stdout.read)
        drain.start()
        lines: list[str] = []
        while "connected again" not in (lines[-1] if lines else ""):
            lines.append(process.stderr.readline().decode())
            assert lines[-1], lines
        process.send_signal(signal.SIGINT)
        process.wait(10)
        result = "".join(lines) + process.stderr.read().decode()
        drain.join(10)
    finally:
        process.kill()
        server.stop()
    assert re.search(r"slow consumer: our output was blocked for \d+s", result), result
    assert "slow consumer 1 time" in result


def test_a_pipe_that_is_closed_ends_it(own: Cli, server: RealServer) -> None:
    js.stream(server.url, "S", "s")
    js.publish(server.url, "s", b"x" * 100, 5000)
    line = f"{sys.executable} -m jsctl sub --stream S --all | head -2"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        env={**os.environ, **own.environ},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr and "error" not in done.stderr, done


@pytest.mark.long
def test_publishing_continues_after_a_killed_server(own: Cli, server: RealServer) -> None:
    process = jsctl(own, "pub", "a", "x", "--count", "20", "--sleep", "200ms")
    try:
        read_until(process, "Published 1 bytes")
        server.kill()
        read_until(process, "connection lost")
        server.start()
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert err.count("Published 1 bytes") >= 15 and process.returncode == 0, (out, err)


@pytest.mark.slow
def test_publishing_gives_up_in_time(own: Cli, server: RealServer) -> None:
    process = jsctl(own, "pub", "a", "x", "--count", "20", "--sleep", "200ms", "--timeout", "1s")
    try:
        read_until(process, "Published 1 bytes")
        server.kill()
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 4 and err.splitlines()[-1].startswith("jsctl: error: "), err


@pytest.mark.slow
def test_a_line_that_no_longer_accepts_data(own: Cli, server: RealServer) -> None:
    """Nobody says that it is gone: a server behind it is lost after the timeout."""
    with relay(server.port) as line:
        cli = Cli(own.home, line.url)
        process = jsctl(cli, "pub", "a", "--count", "1000000", "--timeout", "1s", "x" * 500)
        try:
            wait_for(lambda: line.up > 1_000_000, "nothing was published")
            line.open.clear()
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 4
    assert "Traceback" not in err and "lost the connection" in err


@pytest.mark.slow
def test_a_quiet_stream_is_not_reported(cli: Cli, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jsctl.jetstream.message.feed._HEARTBEAT", SECOND // 5)
    js.stream(url, "S", "s")
    assert cli("sub --stream S --all --wait 2s", status=0).err == "Subscribing to JetStream Stream S\n"


@pytest.mark.long
def test_a_server_that_hangs_is_reported(
    own: Cli, server: RealServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jsctl.jetstream.message.feed._HEARTBEAT", SECOND // 5)
    js.stream(server.url, "S", "s")
    assert server.process
    pid = server.process.pid
    pauses = (
        threading.Timer(1, os.kill, (pid, signal.SIGSTOP)),
        threading.Timer(3, os.kill, (pid, signal.SIGCONT)),
    )
    for timer in pauses:
        timer.start()
    try:
        err = own("sub --stream S --all --wait 4s", status=0).err
    finally:
        for timer in pauses:
            timer.join()
    assert "the server sent no heartbeats" in err and "reading started again" in err


def test_a_durable_behind_the_guides_imports(tmp_path: Path) -> None:
    pair = HubLeaf(tmp_path / "imports", ACCOUNTS)
    try:
        pair.start()
        js.stream(pair.url, STREAM, "test", domain="hub")
        config = {"durable_name": "dur", "ack_policy": "explicit"}
        subject = f"CONSUMER.CREATE.{STREAM}.dur"
        js.ask(pair.url, subject, {"stream_name": STREAM, "config": config}, domain="hub")
        js.publish(pair.url, "test", b"x", 3)
        client = Cli(tmp_path / "config", pair.hub.url_for("import_client"))
        outcome = client(
            f"sub --stream {STREAM} --durable dur --count 3 --raw --timeout 1s {PREFIX}", status=0
        )
        assert outcome.out == "x\nx\nx\n"
        info = js.ask(pair.url, f"CONSUMER.INFO.{STREAM}.dur", domain="hub")
        assert info["ack_floor"]["stream_seq"] == 3
    finally:
        pair.stop()


def test_limits_of_a_consumer(own: Cli, server: RealServer) -> None:
    js.stream(server.url, "S", "s")
    js.publish(server.url, "s", b"x", 20)
    limits = {"max_batch": 3, "max_expires": 2 * SECOND}
    config = {"durable_name": "C", "ack_policy": "explicit", **limits}
    js.ask(server.url, "CONSUMER.CREATE.S.C", {"stream_name": "S", "config": config})
    assert own("sub --stream S --durable C -T --raw", status=0).out == "x\n" * 20


def test_limits_of_a_server(tmp_path: Path) -> None:
    limited = CONFIG.replace("jetstream {", "jetstream { limits { max_request_batch: 100 },")
    server = RealServer(tmp_path, limited).start()
    try:
        js.stream(server.url, "S", "s")
        js.publish(server.url, "s", b"x", 500)
        assert (
            Cli(tmp_path / "config", server.url)("sub --stream S --all -T --raw", status=0).out == "x\n" * 500
        )
    finally:
        server.stop()


def test_large_messages_among_small_ones_for_a_slow_reader(own: Cli, server: RealServer) -> None:
    js.stream(server.url, "S", "s")
    js.publish_all(server.url, [("s", b"x" * size) for _ in range(5000) for size in (5, 20_000)])
    stream = jsctl(own, "sub", "--stream", "S", "--all", "-T", "--raw", stdout=subprocess.PIPE)
    assert stream.stdout
    assert stream.stdout.read(100_000)
    time.sleep(1)
    out, err = stream.communicate()
    assert len(out) > 99_000_000
    assert "connection lost" not in err
