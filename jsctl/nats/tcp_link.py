"""The TCP or TLS connection below nats-py's client.

asyncio's streams copy received data three times, and before Python 3.12 they join and copy what is sent. Here
blocks are passed on as they were received, and sent as they are: for an object of 1 GiB that saves half a
second of processor time.
"""

import asyncio
import os
import select
import ssl
import sys
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import ParseResult

from jsctl.nats import proxy

_HAS_WRITEV = hasattr(os, "writev")

_JOINS = sys.version_info < (3, 12) and _HAS_WRITEV
"""Whether asyncio joins blocks before it sends them."""

_MAX_BLOCKS = 1024
"""Blocks that the system takes at once (IOV_MAX)."""


_READ_SIZE = 64 << 10  #: bytes that `read_now` reads at once

_MAX_BLOCK = 0.05  #: seconds for which the event loop may be kept waiting


class TcpLink:
    """The transport of nats-py's client (nats.aio.transport.Transport), with methods that jsctl needs
    besides.

    It makes one connection after the other. socks: the proxy of all of them.
    """

    def __init__(self, socks: proxy.Proxy | None = None) -> None:
        self._socks = socks
        self._bare: _Stream | None = None  #: below TLS
        self._stream: _Stream | None = None

    # -- for nats-py --------------------------------------------------------------------------------

    async def connect(self, uri: ParseResult, buffer_size: int, connect_timeout: float) -> None:
        """Connect to a server. buffer_size: bytes that may wait unread; reading pauses at twice as many.
        connect_timeout: seconds. Raises OSError, TimeoutError."""
        stream = _Stream(buffer_size)
        loop = asyncio.get_running_loop()
        host, port = uri.hostname or "", uri.port or 0
        if self._socks:
            proxied_socket = await proxy.connect(self._socks, host, port, connect_timeout)
            await loop.create_connection(lambda: stream, sock=proxied_socket)
        else:
            async with asyncio.timeout(connect_timeout):
                await loop.create_connection(lambda: stream, host, port)
        self._bare = self._stream = stream

    async def connect_tls(
        self, uri: str | ParseResult, ssl_context: ssl.SSLContext, buffer_size: int, connect_timeout: float
    ) -> None:
        """Continue with TLS. Unread data from before is dropped: it may be forged. Raises OSError,
        TimeoutError."""
        if self._bare is None:
            raise ConnectionError("there is no connection for TLS")
        stream = _Stream(buffer_size, is_tls=True)
        host = uri if isinstance(uri, str) else uri.hostname
        async with asyncio.timeout(connect_timeout):
            transport = await asyncio.get_running_loop().start_tls(
                self._bare.transport, stream, ssl_context, server_hostname=host
            )
        if transport is None:
            raise ConnectionError("the connection was lost")
        stream.connection_made(transport)
        self._stream = stream

    def write(self, payload: bytes) -> None:
        """Hand over bytes to be sent."""
        self._require_stream().write_blocks([payload])

    def writelines(self, payload: Sequence[bytes]) -> None:
        """Hand over blocks to be sent; those that the system accepts at once are not copied."""
        self._require_stream().write_blocks(payload)

    async def drain(self) -> None:
        """Wait while too much is unsent. Raises OSError for a lost connection."""
        await self._require_stream().drain()

    async def read(self, buffer_size: int) -> bytes:
        """Return the next block as it was received, empty at the end. Raises OSError."""
        return await self._require_stream().read()

    async def readline(self) -> bytes:
        """Return the next line; at the end of the connection, an incomplete one. Raises OSError, or
        ValueError for a line that is too long."""
        return await self._require_stream().read_line()

    def at_eof(self) -> bool:
        """Return whether everything was read and the connection has ended."""
        return self._stream is None or self._stream.is_read

    def close(self) -> None:
        """Close the connection once everything is sent."""
        if self._stream:
            self._stream.transport.close()

    async def wait_closed(self) -> None:
        """Wait for the end of `close`."""
        if self._stream:
            await self._stream.closed.wait()

    # -- for jsctl ----------------------------------------------------------------------------------

    @property
    def unread(self) -> bytes:
        """Data that was received and not read yet."""
        return b"".join(self._stream.blocks) if self._stream else b""

    @property
    def unsent_size(self) -> int:
        """Number of bytes that were handed over and not yet accepted by the system."""
        return self._stream.transport.get_write_buffer_size() if self._stream else 0

    @property
    def handle(self) -> int:
        """The file descriptor of a plain connection; -1 with TLS or without a connection."""
        return self._stream.handle if self._stream else -1

    def info(self, name: str) -> Any:
        """Return what asyncio knows of the socket (`peername`, `ssl_object`); None when there is no
        socket."""
        return self._stream.transport.get_extra_info(name) if self._stream else None

    def feed(self, data: bytes) -> None:
        """Add data that was received without the event loop."""
        self._require_stream().data_received(data)

    def read_now(self, seconds: float) -> bytes:
        """Return what arrives within `seconds`, or 0.05 if these are more, without the event loop.

        Empty if the loop must read: with TLS, data that it has received, the end of the connection, and
        when nothing arrives in time.
        """
        handle = self.handle
        if handle < 0 or self.unread or not select.select([handle], [], [], min(seconds, _MAX_BLOCK))[0]:
            return b""
        try:
            return os.read(handle, _READ_SIZE)
        except OSError:  # the loop will meet it, too, and handle it
            return b""

    def write_now(self, blocks: Sequence[bytes], read: Callable[[], bool]) -> Sequence[bytes]:
        """Send blocks without the event loop; return what the loop must send.

        read: handles what arrived, and returns whether it could; called first, as the server ends the
        connection of a client that does not read.
        """
        while (handle := self.handle) >= 0 and not self.unsent_size:
            readable, writable, _ = select.select([handle], [handle], [], _MAX_BLOCK)
            if readable:
                if not read():
                    break
            elif not writable or (rest := _write_now(handle, blocks)) is blocks:
                break
            elif not rest:
                return []
            else:
                blocks = rest
        return blocks

    def limit_unsent(self, size: int | None) -> None:
        """Set how many bytes may be unsent before `drain` waits; None for asyncio's default."""
        if self._stream:
            self._stream.transport.set_write_buffer_limits(high=size)

    def abort(self) -> None:
        """End the connection; drop what is unsent."""
        for stream in (self._stream, self._bare):
            if stream and not stream.closed.is_set():  # a closed transport cannot be closed again
                stream.transport.abort()

    def _require_stream(self) -> "_Stream":
        if self._stream is None:
            raise ConnectionError("not connected")
        return self._stream


class _Stream(asyncio.Protocol):
    """One connection. limit: bytes that may wait unread; reading pauses at twice as many."""

    transport: asyncio.Transport

    def __init__(self, limit: int, *, is_tls: bool = False) -> None:
        self._limit = limit
        self._is_tls = is_tls
        self._size = 0  #: bytes of `blocks`
        self._waiter: asyncio.Future[None] | None = None  #: for data
        self._is_paused = False
        self._is_ended = False
        self._error: Exception | None = None
        self._may_write = asyncio.Event()
        self._may_write.set()
        self.blocks: deque[bytes] = deque()
        self.closed = asyncio.Event()
        self.handle = -1

    # -- called by asyncio --------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]
        if not self._is_tls and (socket := transport.get_extra_info("socket")):
            self.handle = socket.fileno()

    def data_received(self, data: bytes) -> None:
        self.blocks.append(data)
        self._size += len(data)
        self._wake()
        if self._size > 2 * self._limit and not self._is_paused:
            self._is_paused = True
            self.transport.pause_reading()

    def eof_received(self) -> bool:
        self._is_ended = True
        self._wake()
        return not self._is_tls  # a plain connection can still send

    def connection_lost(self, exc: Exception | None) -> None:
        self.handle = -1
        self._is_ended = True
        self._error = exc
        self._wake()
        self.closed.set()
        self._may_write.set()

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    # -- reading and writing ------------------------------------------------------------------------

    @property
    def is_read(self) -> bool:
        """Whether everything was read and the connection has ended."""
        return self._is_ended and not self.blocks

    async def read(self) -> bytes:
        """Return the next block, empty at the end. Raises OSError."""
        while not self.blocks:
            if self._error:
                raise self._error
            if self._is_ended:
                return b""
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        block = self.blocks.popleft()
        self._size -= len(block)
        if self._is_paused and self._size <= self._limit:
            self._is_paused = False
            self.transport.resume_reading()
        return block

    async def read_line(self) -> bytes:
        """Return the next line. See TcpLink.readline."""
        line = b""
        while len(line) <= self._limit:
            block = await self.read()
            start, end, rest = block.partition(b"\n")
            line += start + end
            if rest:
                self.blocks.appendleft(rest)
                self._size += len(rest)
            if end or not block:
                return line
        raise ValueError("a line is too long")

    def write_blocks(self, blocks: Sequence[bytes]) -> None:
        """Hand over blocks to be sent. Those for a lost connection are dropped; `drain` raises its error.

        asyncio raises TypeError or AttributeError for them, depending on Python's version.
        """
        if self.closed.is_set() or self.transport.is_closing():
            return
        if _JOINS and self.handle >= 0 and not self.transport.get_write_buffer_size():
            blocks = _write_now(self.handle, blocks)
        if len(blocks) == 1:
            self.transport.write(blocks[0])
        elif blocks:
            self.transport.writelines(blocks)

    async def drain(self) -> None:
        """Wait while too much is unsent. Raises OSError for a lost connection."""
        if self.transport.is_closing():
            await asyncio.sleep(0)  # so that `connection_lost` is called
        await self._may_write.wait()
        if self.closed.is_set():
            raise self._error or ConnectionResetError("the connection was lost")

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _write_now(handle: int, blocks: Sequence[bytes]) -> Sequence[bytes]:
    """Send what a socket accepts at once; return the rest."""
    if not _HAS_WRITEV:
        return blocks
    try:
        count = os.writev(handle, blocks[:_MAX_BLOCKS])
    except OSError:  # it accepts nothing now; other errors asyncio will meet, too
        return blocks
    for at, block in enumerate(blocks):
        if count < len(block):
            return [block[count:], *blocks[at + 1 :]]
        count -= len(block)
    return []
