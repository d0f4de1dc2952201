"""The relay of a network: it passes connections from port to port, so that they can be disturbed.

It reads `links.json` in its folder, and again whenever the file changes:

    {"LINK": {"hops": {"PORT": PORT, ...}, "down": bool, "drop": bool, "delay_ms": int, "limit": int}}

down: connections end, and new ones are refused. drop: connections stay open, and nothing passes. delay_ms: on
each way. limit: bytes per second on each way, 0 for no limit.
"""

import asyncio
import contextlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILE = "links.json"
APPLIED = "links.applied"  #: holds the modification time (ns) of the file that was applied

_PIECE_BYTES = 1 << 16
_POLL_SECONDS = 0.05


@dataclass(slots=True)
class _Link:
    settings: Mapping[str, Any]
    servers: list[asyncio.Server] = field(default_factory=list)
    tasks: set["asyncio.Task[None]"] = field(default_factory=set)

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
            for task in link.tasks:
                task.cancel()
        elif not link.servers:
            for port, target in settings["hops"].items():
                link.servers.append(await self._listen(link, int(port), int(target)))

    async def _listen(self, link: _Link, port: int, target: int) -> asyncio.Server:
        async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            if task is not None:
                link.tasks.add(task)
                task.add_done_callback(link.tasks.discard)
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await _carry(link, reader, writer, target)

        return await asyncio.start_server(carry, "127.0.0.1", port, limit=_PIECE_BYTES)


async def _carry(
    link: _Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: int
) -> None:
    """Relay one connection until either side ends it."""
    try:
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", target, limit=_PIECE_BYTES)
    except OSError:
        writer.transport.abort()
        return
    copies = [
        asyncio.create_task(_copy(link, reader, to_writer)),
        asyncio.create_task(_copy(link, to_reader, writer)),
    ]
    try:
        await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for copy in copies:
            copy.cancel()
        for end in (writer, to_writer):
            end.transport.abort() if link.get("down") else end.close()


async def _copy(link: _Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy one way. Pieces are delayed side by side, so that a delay does not limit what passes."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(maxsize=1024)

    async def receive() -> None:
        while data := await reader.read(_PIECE_BYTES):
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
            await writer.drain()
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
