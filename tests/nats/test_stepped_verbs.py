"""Verbs without an event loop: the same outcomes as in one, from real servers and bad ones."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from jsctl.base import loops
from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError
from jsctl.nats.connection import Connection
from jsctl.nats.message import Message, OutgoingMessage
from tests.support import js, stepping
from tests.support.cases import sample
from tests.support.hostile import hostile_server, info
from tests.support.processes import suspend, unread_bytes
from tests.support.run import Cli
from tests.support.servers import RealServer, free_port
from tests.support.waiting import wait_for

RIGHTS = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
accounts { A: { jetstream: enabled, users: [
  {user: all, password: x},
  {user: tells, password: x, permissions: {publish: ["news"], subscribe: {deny: [">"]}}},
  {user: asks, password: x, permissions: {publish: ["$JS.API.STREAM.NAMES"], subscribe: ["_INBOX.>"]}}
] } }
"""

VERBS = (
    "stream ls",
    "stream ls --json",
    "stream ls -n",
    "stream info ORDERS",
    "stream info ORDERS --json",
    "consumer ls ORDERS",
    "consumer info ORDERS NEW",
    "kv get CONFIG key",
    "kv get CONFIG key --raw",
    "pub orders.new hello",
    "kv put CONFIG key other",
    "kv create CONFIG new value",
    "kv update CONFIG key other 1",
    "object ls",
    "server check stream --stream ORDERS",
    "server check consumer --stream ORDERS --consumer NEW",
    "server check message --stream KV_CONFIG",
    "server check kv --bucket CONFIG --key key",
    "server check jetstream",
    "stream add NEW --subjects new --defaults",
    "stream rm ORDERS --force",
    "consumer add ORDERS NEWER --pull --defaults",
    "consumer rm ORDERS NEW --force",
    "account info",
)

HEAVY = {
    *("asyncio", "nats", "ssl", "rich", "random", "secrets", "subprocess", "hashlib"),
    *("encodings.idna", "locale"),
    *("jsctl.monitor.check.servers", "jsctl.monitor.consumer.rows"),
}

UNNEEDED = {
    "kv get CONFIG key": {"base64", "copy", "jsctl.jetstream.message.compose"},
    "kv put CONFIG key other": {"base64", "copy", "jsctl.jetstream.kv.read", "jsctl.views.events"},
    "pub orders.new hello": {"base64", "copy", "jsctl.jetstream.message.browse"},
    "stream ls -n": {"base64", "copy", "dataclasses", "difflib"},
    "stream info ORDERS --json": {"base64", "copy", "dataclasses", "jsctl.views.events"},
    "server check stream --stream ORDERS": {"jsctl.jetstream.message"},
}
"""Modules of other verbs of the same noun, and what takes long to make."""


@pytest.mark.parametrize("line", sample(VERBS, 2))
def test_what_hot_verbs_do_not_import(url: str, cli: Cli, line: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    consumer = {"stream_name": "ORDERS", "config": {"durable_name": "NEW", "ack_policy": "explicit"}}
    js.ask(url, "CONSUMER.CREATE.ORDERS.NEW", consumer)
    cli("kv add CONFIG", status=0)
    cli("kv put CONFIG key value", status=0)
    cli("object add FILES", status=0)
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "jsctl", *line.split()],
        env={**os.environ, **cli.environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {part.rpartition("|")[2].strip() for part in ended.stderr.splitlines()}
    assert "jsctl.nats.blocking_driver" in imported
    assert not imported & (HEAVY | UNNEEDED.get(line, set()))


@pytest.mark.parametrize(
    "line",
    [
        "stream info ORDRES",
        "stream info a.b",
        "kv get CONFIG kez",
        "kv get CONFG key",
        "kv get CONFIG key --revision 9",
        "kv put CONFG key x",
        "kv create CONFIG key x",
        "kv update CONFIG key x 9",
        "server check stream --stream NOPE",
        "server check kv --bucket CONFIG --key kez",
        "consumer info ORDERS NWE",
        "pub 'a b' x",
        "pub news '{{Nope}}'",
        "stream info NOPE --trace",
        "stream ls --js-domain nowhere",
    ],
)
def test_the_same_words(url: str, cli: Cli, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    cli("kv add CONFIG", status=0)
    cli("kv put CONFIG key value", status=0)
    free = cli(line)
    monkeypatch.setattr(stepping, "in_a_loop", True)
    assert free == cli(line)


def outcomes(settings: Settings, ask: Callable[[Connection], Awaitable[object]]) -> tuple[object, object]:
    """What a request comes to without an event loop, and in one."""

    async def work() -> object:
        try:
            connection = await Connection.open(settings)
            try:
                return await ask(connection)
            finally:
                await connection.close()
        except JsctlError as error:
            return type(error), str(error), error.status

    return loops.run(work()), asyncio.run(work())


def same(settings: Settings, ask: Callable[[Connection], Awaitable[object]]) -> str:
    free, in_loop = outcomes(settings, ask)
    assert free == in_loop
    return str(free)


async def ask_api(connection: Connection) -> object:
    return (await connection.request("$JS.API.STREAM.NAMES", timeout=SECOND // 2)).data


async def ask_nobody(connection: Connection) -> object:
    return await connection.request("nobody.there")


async def ask_too_much(connection: Connection) -> object:
    return await connection.request_message(OutgoingMessage("a", bytes(2 << 20)))


async def tell(connection: Connection) -> object:
    await connection.publish("news", b"x")
    await connection.flush()
    return "told"


async def tell_other(connection: Connection) -> object:
    await connection.publish("other", b"x")
    await connection.flush()
    return "told"


def test_what_servers_refuse(tmp_path: Path) -> None:
    server = RealServer(tmp_path, RIGHTS).start()
    try:
        every, tells, asks = (Settings(url=server.url_for(user, "x")) for user in ("all", "tells", "asks"))
        assert "streams" in same(every, ask_api)
        assert "nobody answers" in same(every, ask_nobody)
        assert "the server accepts" in same(every, ask_too_much)
        assert same(tells, tell) == "told"
        assert "not allowed to subscribe" in outcomes(tells, ask_api)[0][1]  # type: ignore[index]
        assert "not allowed to publish to other" in outcomes(tells, tell_other)[0][1]  # type: ignore[index]
        assert "streams" in same(asks, ask_api)
        assert "not allowed to publish to nobody.there" in same(asks, ask_nobody)
        away = f"nats://127.0.0.1:{free_port()}"
        assert "streams" in same(Settings(url=f"{away},{every.url}"), ask_api)
        assert "refuses the login" in same(Settings(url=f"{away},{server.url_for('all', 'y')}"), ask_api)
    finally:
        server.stop()


@pytest.mark.slow
def test_ports_without_a_nats_server() -> None:
    away = f"nats://127.0.0.1:{free_port()}"
    assert "connection refused" in same(Settings(url=away), ask_api)
    assert "cannot connect to any of" in same(Settings(url=f"{away},{away}"), ask_api)
    with hostile_server() as url:
        assert "no answer on $JS.API.STREAM.NAMES in 0.5s" in same(Settings(url=url), ask_api)
    with hostile_server(hello=b"") as url:
        assert "no answer in time" in same(Settings(url=url, timeout=SECOND // 2), ask_api)
    with hostile_server(pong=b"") as url:
        assert "no answer in time" in same(Settings(url=url, timeout=SECOND // 2), ask_api)
    with hostile_server(pong=b"-ERR 'maximum connections exceeded'\r\n") as url:
        assert "takes no more connections" in same(Settings(url=url), ask_api)
    with hostile_server(hello=info(), then=b"MSG a 99 -16\r\n") as url:
        assert "breaks the NATS protocol" in same(Settings(url=url), ask_api)


def test_a_server_that_is_killed(tmp_path: Path) -> None:
    server = RealServer(tmp_path, RIGHTS).start()
    cli = Cli(tmp_path, server.url_for("all", "x"))
    try:
        answered = threading.Event()

        async def ask(connection: Connection) -> object:
            await connection.request("$JS.API.STREAM.NAMES")
            answered.set()
            server.kill()
            return await connection.request("$JS.API.STREAM.NAMES")

        settings = Settings(url=server.url_for("all", "x"), timeout=SECOND)
        with pytest.raises(JsctlError, match="lost the connection to nats://127"):
            loops.run(_with(settings, ask))
        assert answered.is_set()
        assert "connection refused" in cli("stream ls", status=4).err
    finally:
        server.stop()


def test_a_server_that_is_killed_in_a_request_and_comes_back(tmp_path: Path) -> None:
    """The request is made again; so is the other that was sent with it."""
    server = RealServer(tmp_path, RIGHTS).start()

    def start_again() -> None:
        wait_for(lambda: unread_bytes(server.port), "the message has not been sent")
        server.kill()
        server.start()

    timer = threading.Timer(0.2, start_again)

    async def ask(connection: Connection) -> list[Message]:
        await connection.request("$JS.API.STREAM.NAMES")
        assert server.process
        suspend(server.process.pid)
        timer.start()
        other = loops.start(connection.request("$JS.API.STREAM.LIST"))
        return [await connection.request("$JS.API.STREAM.NAMES"), await other]

    try:
        names, infos = loops.run(_with(Settings(url=server.url_for("all", "x")), ask))
        assert b"stream_names_response" in names.data and b"stream_list_response" in infos.data
    finally:
        timer.join()
        server.stop()


def test_a_message_is_not_sent_again_when_the_connection_ends(tmp_path: Path) -> None:
    """It may have changed something already."""
    server = RealServer(tmp_path, RIGHTS).start()

    def start_again() -> None:
        server.kill()
        server.start()

    async def ask(connection: Connection) -> object:
        assert server.process
        suspend(server.process.pid)
        thread = threading.Thread(target=start_again)
        thread.start()
        try:
            return await connection.request_message(
                OutgoingMessage("$JS.API.STREAM.CREATE.NEW", b'{"name": "NEW"}')
            )
        finally:
            thread.join()

    try:
        with pytest.raises(JsctlError, match="lost the connection to nats://127"):
            loops.run(_with(Settings(url=server.url_for("all", "x")), ask))
    finally:
        server.stop()


async def _with(settings: Settings, ask: Callable[[Connection], Awaitable[Any]]) -> Any:
    return await ask(await Connection.open(settings))


@pytest.mark.parametrize("hello", [info(), b""])
def test_ctrl_c_while_it_waits(tmp_path: Path, hello: bytes) -> None:
    """For an answer, and for a greeting."""
    with hostile_server(hello=hello) as url:
        cli = Cli(tmp_path, url)
        process = subprocess.Popen(
            [sys.executable, "-m", "jsctl", "stream", "ls"],
            env={**os.environ, **cli.environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        port = f":{int(url.rpartition(':')[2]):04X}"
        wait_for(lambda: _is_connected(process.pid, port), "it does not connect")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) in ((130, b"", b"\n"), (-signal.SIGINT, b"", b""))


def _is_connected(pid: int, port: str) -> bool:
    table = Path(f"/proc/{pid}/net/tcp").read_text().splitlines()
    return any(line.split()[2].endswith(port) and line.split()[3] == "01" for line in table[1:])
