"""A TCP or TLS connection in an event loop.

What is received goes to a function at once. asyncio's streams would copy it three times, and before Python
3.12 they join and copy what is sent: for an object of 1 GiB that is half a second of processor time.
"""

import asyncio
import contextlib
import os
import select
import ssl
import sys
from collections.abc import Callable, Sequence
from typing import Any

from jsctl.nats import proxy
from jsctl.nats.addresses import ServerAddress

_HAS_WRITEV = hasattr(os, "writev")

_JOINS = sys.version_info < (3, 12) and _HAS_WRITEV
"""Whether asyncio joins blocks before it sends them."""

_MAX_BLOCKS = 1024
"""Blocks that the system takes at once (IOV_MAX)."""

_READ_SIZE = 64 << 10  #: bytes that `read_now` reads at once

_MAX_BLOCK = 0.05  #: seconds for which the event loop may be kept waiting


def _reuse_memory() -> None:
    """Have the memory of blocks used again for the next ones, instead of returned to the system and asked for
    again, each time with pages to be cleared.

    glibc does so with less than twice the size of the largest block that was freed (mallopt,
    M_TRIM_THRESHOLD). This one, of 1 MiB, is freed at once, and never touched.
    """
    bytes(1 << 20)


class TcpLink(asyncio.Protocol):
    """One connection. on_data: called with each block as it was received. on_end: called once, when the
    connection ends otherwise than by `close` or `abort`: with an error, or None if the server closed it.
    """

    def __init__(
        self, on_data: Callable[[bytes], object], on_end: Callable[[Exception | None], object]
    ) -> None:
        self._on_data, self._on_end = on_data, on_end
        self._transport: asyncio.Transport | None = None
        self._is_tls = False
        self._has_ended = False
        self._error: Exception | None = None
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._closed = asyncio.Event()
        self.handle = -1  #: the file descriptor of a plain connection; -1 with TLS or without a connection

    async def connect(
        self, address: ServerAddress, socks: proxy.Proxy | None, context: ssl.SSLContext | None, tls_host: str
    ) -> None:
        """Connect to a server, through a proxy if there is one, with TLS if there is a context. Raises
        OSError."""
        loop = asyncio.get_running_loop()
        self._is_tls = context is not None
        options: dict[str, Any] = {"ssl": context, "server_hostname": tls_host} if context else {}
        if socks:
            proxied_socket = await proxy.connect(socks, address.host, address.port)
            await loop.create_connection(lambda: self, sock=proxied_socket, **options)
        else:
            await loop.create_connection(lambda: self, address.host, address.port, **options)

    async def start_tls(self, context: ssl.SSLContext, tls_host: str) -> None:
        """Continue with TLS. Raises OSError."""
        self._is_tls, self.handle = True, -1
        plain = self._transport
        transport = plain and await asyncio.get_running_loop().start_tls(
            plain, self, context, server_hostname=tls_host
        )
        if transport is None:
            raise ConnectionError("the connection was lost")
        self._transport = transport

    # -- called by asyncio --------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        _reuse_memory()
        self._transport = transport  # type: ignore[assignment]
        if not self._is_tls and (socket := transport.get_extra_info("socket")):
            self.handle = socket.fileno()

    def data_received(self, data: bytes) -> None:
        self._on_data(data)

    def eof_received(self) -> None:
        self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if exc and self.handle >= 0 and not self._has_ended:
            with contextlib.suppress(OSError):  # what the server said before it closed the connection
                self._on_data(os.read(self.handle, _READ_SIZE))
        self.handle = -1
        self._error = exc
        self._closed.set()
        self._may_write.set()
        self._end(exc)

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    def _end(self, error: Exception | None) -> None:
        if not self._has_ended:
            self._has_ended = True
            self._on_end(error)

    # -- sending ------------------------------------------------------------------------------------

    @property
    def unsent_size(self) -> int:
        """Number of bytes that were handed over and not yet accepted by the system."""
        return self._transport.get_write_buffer_size() if self._transport else 0

    def write(self, blocks: Sequence[bytes]) -> None:
        """Hand over blocks to be sent; those that the system accepts at once are not copied. Those for a lost
        connection are dropped; `drain` raises its error.

        asyncio raises TypeError or AttributeError for them, depending on Python's version.
        """
        transport = self._transport
        if transport is None or self._closed.is_set() or transport.is_closing():
            return
        if _JOINS and self.handle >= 0 and not transport.get_write_buffer_size():
            blocks = _write_now(self.handle, blocks)
        if len(blocks) == 1:
            transport.write(blocks[0])
        elif blocks:
            transport.writelines(blocks)

    async def drain(self) -> None:
        """Wait while too much is unsent. Raises OSError for a lost connection."""
        if self._transport is None or self._transport.is_closing():
            await asyncio.sleep(0)  # so that `connection_lost` is called
        await self._may_write.wait()
        if self._closed.is_set():
            raise self._error or ConnectionResetError("the connection was lost")

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
        if self._transport:
            self._transport.set_write_buffer_limits(high=size)

    # -- receiving ----------------------------------------------------------------------------------

    def read_now(self, seconds: float) -> bytes:
        """Return what arrives within `seconds`, or 0.05 if these are more, without the event loop.

        Empty if the loop must read: with TLS, at the end of the connection, and when nothing arrives in time.
        """
        handle = self.handle
        if handle < 0 or not select.select([handle], [], [], min(seconds, _MAX_BLOCK))[0]:
            return b""
        try:
            return os.read(handle, _READ_SIZE)
        except OSError:  # the loop will meet it, too, and handle it
            return b""

    # -- the end ------------------------------------------------------------------------------------

    def info(self, name: str) -> Any:
        """Return what asyncio knows of the socket (`peername`, `ssl_object`); None when there is no
        socket."""
        return self._transport.get_extra_info(name) if self._transport else None

    async def close(self) -> None:
        """Close the connection once everything is sent, and wait for that."""
        self._has_ended = True
        if self._transport:
            self._transport.close()
            await self._closed.wait()

    def abort(self) -> None:
        """End the connection; drop what is unsent."""
        self._has_ended = True
        if self._transport and not self._closed.is_set():  # a closed transport cannot be closed again
            self._transport.abort()


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
