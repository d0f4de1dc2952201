"""A connection in an event loop, on real sockets."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from jsctl.nats.addresses import ServerAddress
from jsctl.nats.tcp_link import TcpLink

LIMIT = 1 << 16

Peer = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Observed(TcpLink):
    """One that keeps what it received, and how it ended."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self.ends: list[Exception | None] = []
        super().__init__(self.received.append, self.ends.append)


async def wait_for(condition: Callable[[], object]) -> None:
    """Return as soon as the condition is true; `run` limits the time."""
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


@asynccontextmanager
async def linked() -> AsyncIterator[tuple[Observed, Peer]]:
    """Yield a link, and the other end of its connection."""
    peers: asyncio.Queue[Peer] = asyncio.Queue()
    server = await asyncio.start_server(lambda *peer: peers.put_nowait(peer), "127.0.0.1", 0)
    link = Observed()
    port = server.sockets[0].getsockname()[1]
    await link.connect(ServerAddress(f"nats://127.0.0.1:{port}"), None, None, "")
    reader, writer = await peers.get()
    try:
        yield link, (reader, writer)
    finally:
        link.abort()
        await link.close()
        writer.close()
        server.close()


def run(check: Callable[[Observed, Peer], Awaitable[None]]) -> None:
    async def work() -> None:
        async with asyncio.timeout(20), linked() as (link, peer):
            await check(link, peer)

    asyncio.run(work())


def test_what_arrives_and_its_end() -> None:
    async def check(link: Observed, peer: Peer) -> None:
        peer[1].write(b"INFO {}\r\nPONG")
        peer[1].write_eof()
        await wait_for(lambda: link.ends)
        assert b"".join(link.received) == b"INFO {}\r\nPONG"
        assert link.ends == [None]

    run(check)


def test_blocks_arrive_as_they_are_however_slowly_they_are_read() -> None:
    async def check(link: Observed, peer: Peer) -> None:
        blocks = [bytes([n % 256]) * (n * 997 % 70_000) for n in range(300)]
        link.limit_unsent(LIMIT)

        async def send() -> None:
            for start in range(0, len(blocks), 30):
                link.write(blocks[start : start + 30])
                await link.drain()
            await link.close()

        sending = asyncio.ensure_future(send())
        received = await peer[0].read()
        await sending
        assert received == b"".join(blocks)
        assert not link.unsent_size and not link.ends

    run(check)


def test_a_connection_that_is_reset() -> None:
    async def check(link: Observed, peer: Peer) -> None:
        peer[1].write(b"last words")
        await peer[1].drain()
        await wait_for(lambda: link.received)
        peer[1].get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0"
        )
        peer[1].transport.abort()
        await wait_for(lambda: link.ends)
        assert isinstance(link.ends[0], ConnectionError) and len(link.ends) == 1
        with pytest.raises(ConnectionError):
            await link.drain()

    run(check)


def test_last_words_are_read_although_nothing_can_be_sent() -> None:
    """A server that takes no more connections says why, and closes; what a client sends then fails."""

    async def check(link: Observed, peer: Peer) -> None:
        transport = link._transport
        assert transport
        transport.pause_reading()
        peer[1].write(b"-ERR 'too many'\r\n")
        await peer[1].drain()
        peer[1].get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0"
        )
        peer[1].transport.abort()
        await asyncio.sleep(0.05)  # so that the reset is there
        link.write([b"CONNECT"])
        await wait_for(lambda: link.ends)
        assert isinstance(link.ends[0], OSError)
        assert link.received == [b"-ERR 'too many'\r\n"]

    run(check)


@pytest.mark.parametrize("gracefully", [True, False])
def test_blocks_for_a_lost_connection_are_dropped(gracefully: bool) -> None:
    """asyncio's transports raise what depends on Python's version."""

    async def check(link: Observed, peer: Peer) -> None:
        link.limit_unsent(LIMIT)
        if gracefully:
            link.write([b"x" * 1_000_000] * 5)  # more than the system takes: they are sent later
            closing = asyncio.ensure_future(link.close())
            await peer[0].read()
            await closing
        else:
            link.abort()
            await link.close()
        link.write([b"one"])
        link.write([b"one", b"two"])
        with pytest.raises(ConnectionError):
            await link.drain()
        await link.close()
        link.abort()

    run(check)


def test_before_there_is_a_connection() -> None:
    async def check() -> None:
        link = Observed()
        assert link.handle == -1 and link.unsent_size == 0 and link.info("peername") is None
        link.write([b"one"])
        link.abort()
        await link.close()
        assert link.ends == []

    asyncio.run(check())
