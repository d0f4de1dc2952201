"""`Connection.flush` and `settle`, when the connection is lost meanwhile."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.errors import Unreachable
from jsctl.nats.connection import Connection
from tests.support.processes import suspend
from tests.support.servers import RealServer

CONFIG = 'listen: "127.0.0.1:{port}"'


async def lose(server: RealServer, work: Callable[[], Awaitable[None]]) -> None:
    """Await work that begins before a server is killed, which then starts again."""
    assert server.process
    suspend(server.process.pid)
    task = asyncio.ensure_future(work())
    await asyncio.sleep(0.1)
    server.kill()
    await asyncio.to_thread(server.start)
    await task


def test_subscriptions_are_made_again(tmp_path: Path) -> None:
    server = RealServer(tmp_path, CONFIG).start()

    async def run() -> None:
        connection = await Connection.open(Settings(url=server.url, timeout=20 * SECOND))
        async with connection.subscribe("orders") as orders:
            await lose(server, connection.settle)
            await connection.publish("orders", b"tea")
            message = await orders.next(5 * SECOND)
            assert message and message.data == b"tea"
        await connection.close()

    try:
        asyncio.run(run())
    finally:
        server.stop()


def test_what_was_published_may_be_lost(tmp_path: Path) -> None:
    server = RealServer(tmp_path, CONFIG).start()

    async def run() -> None:
        connection = await Connection.open(Settings(url=server.url, timeout=20 * SECOND))
        await connection.publish("orders", b"tea")
        with pytest.raises(Unreachable, match=r"^lost the connection to nats://127.0.0.1:\d+$"):
            await lose(server, connection.flush)
        await connection.close()

    try:
        asyncio.run(run())
    finally:
        server.stop()


def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    server = RealServer(tmp_path, CONFIG).start()

    async def run() -> None:
        connection = await Connection.open(Settings(url=server.url, timeout=SECOND // 2))
        assert server.process
        suspend(server.process.pid)
        for work in (connection.flush, connection.settle):
            with pytest.raises(Unreachable, match=r"^lost the connection to .*: it does not answer$"):
                await work()
        await connection.close()

    try:
        asyncio.run(run())
    finally:
        if server.process:
            server.process.send_signal(signal.SIGCONT)
        server.stop()
