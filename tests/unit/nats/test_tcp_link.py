"""The connection below nats-py's client, on real sockets."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlparse

import pytest

from jsctl.nats.tcp_link import TcpLink

LIMIT = 1 << 16

Peer = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def linked() -> AsyncIterator[tuple[TcpLink, Peer]]:
    """Yield a link, and the other end of its connection."""
    peers: asyncio.Queue[Peer] = asyncio.Queue()
    server = await asyncio.start_server(lambda *peer: peers.put_nowait(peer), "127.0.0.1", 0)
    link = TcpLink()
    port = server.sockets[0].getsockname()[1]
    await link.connect(urlparse(f"nats://127.0.0.1:{port}"), LIMIT, 5)
    reader, writer = await peers.get()
    try:
        yield link, (reader, writer)
    finally:
        link.abort()
        await link.wait_closed()
        writer.close()
        server.close()


def run(check: Callable[[TcpLink, Peer], Awaitable[None]]) -> None:
    async def work() -> None:
        async with asyncio.timeout(20), linked() as (link, peer):
            await check(link, peer)

    asyncio.run(work())


def test_lines_then_blocks() -> None:
    async def check(link: TcpLink, peer: Peer) -> None:
        peer[1].write(b"INFO {")
        first = asyncio.ensure_future(link.readline())
        await asyncio.sleep(0)
        peer[1].write(b"}\r\nPONG\r\nMSG a 1 2")
        assert await first == b"INFO {}\r\n"
        assert await link.readline() == b"PONG\r\n"
        assert link.unread == b"MSG a 1 2"
        assert await link.read(LIMIT) == b"MSG a 1 2"
        peer[1].write_eof()
        assert await link.read(LIMIT) == b""
        assert link.at_eof()

    run(check)


def test_a_line_without_an_end() -> None:
    async def check(link: TcpLink, peer: Peer) -> None:
        peer[1].write(b"x" * 3 * LIMIT)
        with pytest.raises(ValueError, match="too long"):
            await link.readline()

    run(check)


def test_blocks_arrive_as_they_are_however_slowly_they_are_read() -> None:
    async def check(link: TcpLink, peer: Peer) -> None:
        blocks = [bytes([n % 256]) * (n * 997 % 70_000) for n in range(300)]
        link.limit_unsent(LIMIT)

        async def send() -> None:
            for start in range(0, len(blocks), 30):
                link.writelines(blocks[start : start + 30])
                await link.drain()
            link.close()

        sending = asyncio.ensure_future(send())
        received = await peer[0].read()
        await sending
        assert received == b"".join(blocks)
        assert not link.unsent_size

    run(check)


def test_what_is_not_read_waits_at_the_sender() -> None:
    async def check(link: TcpLink, peer: Peer) -> None:
        data = bytes(range(256)) * (1 << 16)
        peer[1].write(data)
        sending = asyncio.ensure_future(peer[1].drain())
        await asyncio.sleep(0.2)  # for what would come in spite of the limit
        assert len(link.unread) > 2 * LIMIT
        assert len(link.unread) < len(data) // 4
        received = b""
        while len(received) < len(data):
            received += await link.read(LIMIT)
        await sending
        assert received == data

    run(check)


def test_a_connection_that_is_reset() -> None:
    async def check(link: TcpLink, peer: Peer) -> None:
        peer[1].write(b"last words")
        await peer[1].drain()
        reading = asyncio.ensure_future(link.read(LIMIT))
        assert await reading == b"last words"
        peer[1].get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0"
        )
        peer[1].transport.abort()
        with pytest.raises(ConnectionError):
            await link.read(LIMIT)
        with pytest.raises(ConnectionError):
            await link.drain()

    run(check)


@pytest.mark.parametrize("gracefully", [True, False])
def test_blocks_for_a_lost_connection_are_dropped(gracefully: bool) -> None:
    """asyncio's transports raise what depends on Python's version."""

    async def check(link: TcpLink, peer: Peer) -> None:
        link.limit_unsent(LIMIT)
        if gracefully:
            link.writelines([b"x" * 1_000_000] * 5)  # more than the system takes: they are sent later
            link.close()
            await peer[0].read()
        else:
            link.abort()
        await link.wait_closed()
        link.write(b"one")
        link.writelines([b"one", b"two"])
        with pytest.raises(ConnectionError):
            await link.drain()
        link.close()
        link.abort()

    run(check)


def test_before_there_is_a_connection() -> None:
    async def check() -> None:
        link = TcpLink()
        assert link.at_eof()
        assert link.unread == b""
        assert link.handle == -1
        link.close()
        link.abort()
        with pytest.raises(ConnectionError):
            await link.read(1)

    asyncio.run(check())
