"""The relay of a network: it passes connections from port to port, so that they can be disturbed.

It reads `links.json` in its folder, and again whenever the file changes:

    {"LINK": {"hops": {"PORT": PORT, ...}, "down": bool, "drop": bool, "delay_ms": int, "limit": int,
              "without": [NAME, ...]}}

down: connections end, and new ones are refused. drop: connections stay open, and nothing passes. delay_ms: on
each way. limit: bytes per second on each way, 0 for no limit. without: the same as down for connections from
these gateways, which name themselves in their first line.
"""

import asyncio
import contextlib
import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILE = "links.json"
APPLIED = "links.applied"  #: holds the modification time (ns) of the file that was applied

_PIECE_BYTES = 1 << 16
_POLL_SECONDS = 0.05
_GATEWAY = re.compile(rb'CONNECT \{.*?"gateway":"([^"]+)"')
_END_SECONDS = 10.0
"""Seconds that a side may take to read what the other sent before it ended the connection."""


@dataclass(slots=True)
class _Link:
    settings: Mapping[str, Any]
    servers: list[asyncio.Server] = field(default_factory=list)
    tasks: dict["asyncio.Task[None]", str] = field(default_factory=dict)  #: each with its gateway

    def get(self, key: str) -> Any:
        return self.settings.get(key) or 0


class Relay:
    """The relay of all links."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._applied = folder / APPLIED
        self._links: dict[str, _Link] = {}

    async def run(self) -> None:
        """Apply the file whenever it changes, without end."""
        applied: tuple[int, int] | None = None
        while True:
            status = self._file.stat()
            if (status.st_mtime_ns, status.st_ino) != applied:
                applied = (status.st_mtime_ns, status.st_ino)
                for name, settings in json.loads(self._file.read_text()).items():
                    await self._apply(name, settings)
                self._applied.write_text(str(status.st_mtime_ns))
            await asyncio.sleep(_POLL_SECONDS)

    async def _apply(self, name: str, settings: Mapping[str, Any]) -> None:
        link = self._links.setdefault(name, _Link({}))
        link.settings = settings
        if link.get("down"):
            for server in link.servers:
                server.close()
            link.servers.clear()
        for task, gateway in link.tasks.items():
            if link.get("down") or gateway in (link.get("without") or ()):
                task.cancel()
        if link.get("down"):
            return
        if not link.servers:
            for port, target in settings["hops"].items():
                link.servers.append(await self._listen(link, int(port), int(target)))

    async def _listen(self, link: _Link, port: int, target: int) -> asyncio.Server:
        async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            if task is None:
                return
            link.tasks[task] = ""
            task.add_done_callback(lambda task: link.tasks.pop(task, None))

            def inspect(data: bytes) -> None:
                match = _GATEWAY.match(data)
                link.tasks[task] = match[1].decode() if match else ""
                if link.tasks[task] in (link.get("without") or ()):
                    task.cancel()

            with contextlib.suppress(OSError, asyncio.CancelledError):
                await _carry(link, reader, writer, target, inspect)

        return await asyncio.start_server(carry, "127.0.0.1", port, limit=_PIECE_BYTES)


async def _carry(
    link: _Link,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    target: int,
    inspect: Callable[[bytes], None],
) -> None:
    """Relay one connection until either side ends it. inspect: called with the first bytes from `reader`."""
    ends = [writer]
    copies: list[asyncio.Task[None]] = []
    try:
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", target, limit=_PIECE_BYTES)
        ends.append(to_writer)
        copies.append(asyncio.create_task(_copy(link, reader, to_writer, inspect)))
        copies.append(asyncio.create_task(_copy(link, to_reader, writer)))
        await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
        for copy in copies:
            copy.cancel()
        if not (link.get("down") or link.get("without")):
            for end in ends:
                end.close()
            async with asyncio.timeout(_END_SECONDS):
                for end in ends:
                    await end.wait_closed()
    except TimeoutError:
        pass  # one side does not read what the other sent before it ended
    finally:
        for copy in copies:
            copy.cancel()
        for end in ends:
            end.transport.abort()


async def _drain(writer: asyncio.StreamWriter) -> bool:
    """Wait until a connection takes more data; return False when it does not within `_END_SECONDS`."""
    try:
        async with asyncio.timeout(_END_SECONDS):
            await writer.drain()
    except TimeoutError:
        return False
    return True


async def _copy(
    link: _Link,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    inspect: Callable[[bytes], None] | None = None,
) -> None:
    """Copy one way. Pieces are delayed side by side, so that a delay does not limit what passes."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(maxsize=1024)

    async def receive() -> None:
        nonlocal inspect
        with contextlib.suppress(OSError):  # a connection that is reset has ended, too
            while data := await reader.read(_PIECE_BYTES):
                if inspect:
                    inspect(data)
                    inspect = None
                await queue.put((loop.time(), data))
        await queue.put((0.0, b""))

    receiver = asyncio.create_task(receive())
    try:
        while True:
            arrived, data = await queue.get()
            if not data:
                return
            await asyncio.sleep(max(arrived + link.get("delay_ms") / 1000 - loop.time(), 0))
            while link.get("drop"):  # noqa: ASYNC110
                await asyncio.sleep(_POLL_SECONDS)
            writer.write(data)
            while not await _drain(writer):
                if reader.at_eof() or reader.exception():
                    return  # the sender has ended, and nobody reads what it sent before
            if limit := link.get("limit"):
                await asyncio.sleep(len(data) / limit)
    finally:
        receiver.cancel()


def main() -> None:
    """Run `python -m jsctl.localserver.relay FOLDER`."""
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(Relay(Path(sys.argv[1])).run())


if __name__ == "__main__":
    main()
