"""A connection through a websocket: the handshake and the frames are nats-py's, with aiohttp (RFC 6455)."""

import asyncio
import contextlib
import ssl
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlparse

from jsctl.errors import BadInput, MissingDependency
from jsctl.nats import proxy
from jsctl.nats.addresses import ServerAddress

_CLOSE_SECONDS = 1  #: seconds that the other side may take to agree to the end


class WebsocketLink:
    """One connection, with the methods of `TcpLink`."""

    handle = -1  #: the event loop reads and writes

    def __init__(
        self, on_data: Callable[[bytes], object], on_end: Callable[[Exception | None], object]
    ) -> None:
        self._on_data, self._on_end = on_data, on_end
        self._websocket: Any = None
        self._closing: asyncio.Task[None] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._has_unsent = asyncio.Event()
        self._is_sent = asyncio.Event()
        self._is_sent.set()
        self._error: Exception | None = None
        self._has_ended = False
        self.unsent_size = 0  #: bytes that were handed over and not sent yet

    async def connect(
        self, address: ServerAddress, socks: proxy.Proxy | None, context: ssl.SSLContext | None, tls_host: str
    ) -> None:
        """Connect to a server, with TLS if there is a context. Raises OSError, BadInput,
        MissingDependency."""
        if socks:
            raise BadInput("a SOCKS5 proxy cannot be used with a websocket address")
        if not find_spec("aiohttp"):
            raise MissingDependency("websocket addresses need aiohttp", "pip install aiohttp")
        from aiohttp import ClientError
        from nats.aio.transport import WebSocketTransport

        uri = urlparse(address.url)
        self._websocket = WebSocketTransport()
        try:
            if context:
                await self._websocket.connect_tls(uri, context, 0, _CLOSE_SECONDS)
            else:
                await self._websocket.connect(uri, 0, _CLOSE_SECONDS)
        except BaseException as error:
            await self._websocket.wait_closed()
            # Its own errors have those of the socket, and of the certificate, as attributes.
            for cause in (getattr(error, name, None) for name in ("certificate_error", "os_error")):
                if isinstance(cause, OSError):
                    raise cause from None
            if isinstance(error, ClientError) and not isinstance(error, OSError):
                raise ConnectionError(str(error)) from None
            raise
        self._tasks = [asyncio.ensure_future(work) for work in (self._read(), self._send())]

    async def start_tls(self, context: ssl.SSLContext, tls_host: str) -> None:
        """Refuse: a websocket has TLS from its beginning, or never."""
        raise ConnectionError("a websocket cannot begin TLS; use wss://")

    async def _read(self) -> None:
        try:
            while data := await self._websocket.read(0):
                self._on_data(data)
        except OSError as error:
            self._end(error)
        else:
            self._end(None)

    async def _send(self) -> None:
        try:
            while True:
                await self._has_unsent.wait()
                self._has_unsent.clear()
                size = self.unsent_size
                await self._websocket.drain()
                self.unsent_size -= size
                if not self.unsent_size:
                    self._is_sent.set()
        except Exception as error:  # aiohttp raises its own, and those of the socket
            self._end(error)

    def _end(self, error: Exception | None) -> None:
        self._error = error or ConnectionResetError("the connection was lost")
        self._is_sent.set()
        if not self._has_ended:
            self._has_ended = True
            self._on_end(error)

    def write(self, blocks: Sequence[bytes]) -> None:
        """Hand over blocks to be sent, as one message."""
        data = b"".join(blocks)
        if data and not self._error:
            self._websocket.write(data)
            self.unsent_size += len(data)
            self._is_sent.clear()
            self._has_unsent.set()

    async def drain(self) -> None:
        """Wait until everything is sent. Raises OSError for a lost connection."""
        await self._is_sent.wait()
        if self._error:
            raise self._error if isinstance(self._error, OSError) else ConnectionError(str(self._error))

    def write_now(self, blocks: Sequence[bytes], read: Callable[[], bool]) -> Sequence[bytes]:
        """Return all blocks: the event loop must send them."""
        return blocks

    def limit_unsent(self, size: int | None) -> None:
        """Do nothing: `drain` waits for everything."""

    def read_now(self, seconds: float) -> bytes:
        """Return nothing: the event loop must read."""
        return b""

    def info(self, name: str) -> None:
        """Return None: the socket is aiohttp's."""

    async def close(self) -> None:
        """Close the connection once everything is sent, and wait for that."""
        self._has_ended = True
        with contextlib.suppress(OSError):
            await self.drain()
        self.abort()
        if self._closing:
            await asyncio.wait([self._closing])

    def abort(self) -> None:
        """End the connection; drop what is unsent."""
        self._has_ended = True
        for task in self._tasks:
            task.cancel()
        if self._tasks and not self._closing:
            self._closing = asyncio.ensure_future(self._close())

    async def _close(self) -> None:
        self._websocket.close()
        with contextlib.suppress(Exception):  # it is over anyway
            await self._websocket.wait_closed()
