"""Connections through websockets, on a real server. They need aiohttp, no dependency of jsctl."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, MissingDependency, Unreachable
from jsctl.nats import websocket
from jsctl.nats.connection import Connection
from jsctl.nats.events import ConnectionEvent, Disconnected, Reconnected
from jsctl.nats.message import Message
from tests.support.run import Cli
from tests.support.servers import RealServer, free_port

CONFIG = 'listen: "127.0.0.1:{port}"\njetstream {{ store_dir: "{store}" }}\nwebsocket {{ port: %d, %s }}\n'


@pytest.fixture
def aiohttp() -> None:
    pytest.importorskip("aiohttp")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[RealServer, str]]:
    """A server, and its address for websockets."""
    port = free_port()
    config = (CONFIG % (port, "no_tls: true")).replace("{{", "{").replace("}}", "}")
    server = RealServer(tmp_path, config).start()
    yield server, f"ws://127.0.0.1:{port}"
    server.stop()


def test_messages_and_a_lost_connection(aiohttp: None, served: tuple[RealServer, str]) -> None:
    server, url = served
    events: list[ConnectionEvent] = []
    is_back = asyncio.Event()

    def watch(event: ConnectionEvent) -> None:
        events.append(event)
        if isinstance(event, Reconnected):
            is_back.set()

    async def work() -> None:
        connection = await Connection.open(Settings(url=url, timeout=20 * SECOND), on_event=watch)
        received: list[Message] = []
        async with connection.receive("a", received.append):
            for size in (0, 10, 500_000):
                await connection.publish("a", b"x" * size)
            await connection.send_now(b"PUB a 2\r\n", b"hi", b"\r\n")
            await connection.flush()
            assert [len(message.data) for message in received] == [0, 10, 500_000, 2]
            assert b"account_info" in (await connection.request("$JS.API.INFO")).data
            assert connection.url == url and not connection.read_now(0)
            server.kill()
            await asyncio.to_thread(server.start)
            await is_back.wait()
            await connection.publish("a", b"again")
            await connection.flush()
            assert received[-1].data == b"again"
        await connection.close()

    asyncio.run(asyncio.wait_for(work(), 60))
    assert [type(event) for event in events] == [Disconnected, Reconnected]


def test_commands(aiohttp: None, served: tuple[RealServer, str], cli: Cli) -> None:
    server, url = served
    assert cli(f"stream ls -s {url}", status=0).out == "No Streams defined\n"
    refused = cli(f"stream ls -s ws://127.0.0.1:{server.port}", status=4)
    assert refused.err.count("\n") == 1
    assert cli(f"stream ls -s ws://127.0.0.1:{free_port()}", status=4).err.count("\n") == 1
    with_ca = cli(f"stream ls -s {url} --tlsca /nope", status=64)
    assert with_ca.err.count("\n") == 1


def test_tls(aiohttp: None, tmp_path: Path) -> None:
    authority, ca, own = trustme.CA(), tmp_path / "ca.pem", tmp_path / "own.pem"
    authority.cert_pem.write_to_path(str(ca))
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(own))
    port = free_port()
    tls = f'tls {{{{ cert_file: "{own}", key_file: "{own}" }}}}'
    server = RealServer(tmp_path, (CONFIG % (port, tls)).replace("{{", "{").replace("}}", "}")).start()
    settings = Settings(url=f"wss://127.0.0.1:{port}", tlsca=str(ca))

    async def ask(settings: Settings) -> bytes:
        connection = await Connection.open(settings)
        try:
            return (await connection.request("$JS.API.INFO")).data
        finally:
            await connection.close()

    try:
        assert b"account_info" in asyncio.run(ask(settings))
        with pytest.raises(Unreachable, match="no known CA has signed the server's certificate"):
            asyncio.run(ask(settings._replace(tlsca="")))
    finally:
        server.stop()


def test_what_websockets_cannot_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "find_spec", lambda name: None)
    settings = Settings(url="ws://127.0.0.1:1")
    with pytest.raises(MissingDependency, match="websocket addresses need aiohttp"):
        asyncio.run(Connection.open(settings))
    with pytest.raises(BadInput, match="cannot be used with a websocket address"):
        asyncio.run(Connection.open(settings._replace(socks_proxy="socks5://127.0.0.1:1")))
