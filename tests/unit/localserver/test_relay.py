"""The relay of a network, with ends that stall."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from jsctl.localserver import relay
from jsctl.localserver.relay import FILE, Relay

PIECE = b"x" * (16 << 20)
"""More than the kernel takes for a connection that nobody reads."""


class Ends:
    """A server behind a link, and clients in front of it. peers: the server's sides of connections."""

    def __init__(
        self, folder: Path, port: int, target: int, peers: "asyncio.Queue[asyncio.StreamWriter]"
    ) -> None:
        self._folder = folder
        self._port = port
        self._target = target
        self.peers = peers

    def write(self, **settings: object) -> None:
        """Write the settings of the link."""
        link = {"hops": {str(self._port): self._target}, **settings}
        file = self._folder / "new"
        file.write_text(json.dumps({"L": link}))
        file.replace(self._folder / FILE)

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return a connection through the relay."""
        for _ in range(100):
            with contextlib.suppress(OSError):
                return await asyncio.open_connection("127.0.0.1", self._port)
            await asyncio.sleep(0.05)
        raise AssertionError("the relay does not listen")


@contextlib.asynccontextmanager
async def relaying(folder: Path) -> AsyncIterator[tuple[Relay, Ends]]:
    peers: asyncio.Queue[asyncio.StreamWriter] = asyncio.Queue()
    server = await asyncio.start_server(lambda _, writer: peers.put_nowait(writer), "127.0.0.1", 0)
    free = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = free.sockets[0].getsockname()[1]
    free.close()
    ends = Ends(folder, port, server.sockets[0].getsockname()[1], peers)
    ends.write()
    running = Relay(folder)
    task = asyncio.create_task(running.run())
    try:
        yield running, ends
    finally:
        task.cancel()
        server.close()


async def wait_for_tasks(running: Relay, count: int) -> float:
    """Wait until the link carries this many connections; return the seconds that it took."""
    begin = time.monotonic()
    while len(running._links["L"].tasks) != count:
        assert time.monotonic() < begin + 10, running._links["L"].tasks
        await asyncio.sleep(0.01)
    return time.monotonic() - begin


def test_what_nobody_reads_is_dropped_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server has ended the connection; its client reads nothing, and stays connected."""
    monkeypatch.setattr(relay, "_END_SECONDS", 0.3)

    async def work() -> None:
        async with relaying(tmp_path) as (running, ends):
            _, client = await ends.connect()
            client.write(b"hello")
            peer = await ends.peers.get()
            peer.write(PIECE)
            await asyncio.sleep(0.2)
            peer.transport.abort()
            assert await wait_for_tasks(running, 0) < 3
            client.transport.abort()

    asyncio.run(work())


def test_a_link_goes_down_with_clients_that_stall(tmp_path: Path) -> None:
    async def work() -> None:
        async with relaying(tmp_path) as (running, ends):
            clients = [(await ends.connect())[1] for _ in range(3)]
            for _ in clients:
                (await ends.peers.get()).write(PIECE)
            await wait_for_tasks(running, 3)
            ends.write(down=True)
            assert await wait_for_tasks(running, 0) < 3
            ends.write()
            reader, client = await ends.connect()
            (await ends.peers.get()).write(b"again")
            assert await asyncio.wait_for(reader.readexactly(5), 5) == b"again"
            for end in [*clients, client]:
                end.transport.abort()

    asyncio.run(work())
