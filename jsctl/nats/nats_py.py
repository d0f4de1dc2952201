"""nats-py as jsctl needs it: loaded without its JetStream half, with a lean parser, TLS that cannot be
talked out of, and a SOCKS5 proxy."""

import asyncio
import base64
import contextlib
import logging
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from jsctl.nats.lean_import import cheap_version, deferred

_js = deferred("nats", "js")  # before the first import of nats
with cheap_version("nats"):
    import nats.errors
from nats.aio.client import Client, Srv  # noqa: E402
from nats.aio.subscription import Subscription  # noqa: E402
from nats.aio.transport import TcpTransport  # noqa: E402

from jsctl.contexts.settings import Settings  # noqa: E402
from jsctl.errors import BadInput, MissingDependency, Unreachable  # noqa: E402
from jsctl.nats import login  # noqa: E402
from jsctl.nats.login import reason  # noqa: E402
from jsctl.nats.parser import Parser, Taker  # noqa: E402

if _js is not None:
    nats.js = _js

# nats-py makes TLS out of plain connections, and asyncio then warns of each that the server ends.
logging.getLogger("asyncio").addFilter(lambda record: "eof_received()" not in record.getMessage())

_CLOSING = 2
"""Seconds."""


class NatsClient(Client):
    """nats-py with what it lacks: TLS that cannot be talked out of, and a SOCKS5 proxy."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        # nats-py signs only when it believes in a login; a server with no_auth_user does not ask for one.
        self._auth_configured = True
        self.takers: dict[bytes, Taker] = {}  #: by subscription id
        self._ps = Parser(self, self._ps)  # type: ignore[assignment]
        if settings.socks_proxy:
            self._transport = _Proxied(login.proxy(settings.socks_proxy))

    def add_servers(self, urls: Iterable[str]) -> None:
        """Further servers to reconnect to; the login that worked is theirs too."""
        self._server_pool.extend(Srv(self._parse_server_uri(url)) for url in urls)

    def _setup_nkeys_seed_connect(self) -> None:
        # With the keys that are there: nats-py knows nkeys only.
        pair = login.key(self._nkeys_seed_str or "")
        self._public_nkey = pair.public_key.decode()
        self._signature_cb = lambda nonce: base64.b64encode(pair.sign(nonce.encode()))

    async def close(self) -> None:
        """Close, within `_CLOSING`. While a lost connection is made again, nats-py cancels what it then waits
        for itself, or waits for a transport that never ends."""
        ending = asyncio.ensure_future(super().close())
        await asyncio.wait([ending], timeout=_CLOSING)
        if not ending.done():
            ending.cancel()
        elif not ending.cancelled():
            ending.result()

    async def _connect_to_server(self, s: Srv) -> None:
        if s.uri.scheme in ("ws", "wss"):
            if self._transport and isinstance(self._transport, _Proxied):
                raise BadInput("a SOCKS5 proxy cannot be used with a websocket address")
            if not find_spec("aiohttp"):
                raise MissingDependency("websocket addresses need aiohttp", "pip install aiohttp")
        try:
            await super()._connect_to_server(s)
        except Exception:
            # asyncio.wait_for loses a cancellation that comes while a connection is refused, and nats-py's
            # loop would go on after `close` for ever.
            if self.is_closed:
                raise asyncio.CancelledError from None
            raise

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
        if initial_connection and "tls" in self.options and not self.options["tls_handshake_first"]:
            # As the Go client: TLS that was asked for is never left out, or secrets would go in the clear.
            if not (info.get("tls_required") or info.get("tls_available")):
                raise nats.errors.SecureConnWantedError
            info["tls_required"] = True
        await super()._process_info(info, initial_connection)


class _Proxied(TcpTransport):
    """A TCP transport through a SOCKS5 proxy, which looks the host up."""

    def __init__(self, proxy: login.Proxy) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._proxy = proxy

    async def connect(self, uri: Any, buffer_size: int, connect_timeout: float) -> None:
        from python_socks import ProxyConnectionError, ProxyError, ProxyType
        from python_socks.async_.asyncio import Proxy

        proxy = Proxy(ProxyType.SOCKS5, *self._proxy, rdns=True)
        try:
            connected = await proxy.connect(uri.hostname, uri.port, timeout=connect_timeout)
        except ProxyError as error:
            raise OSError(f"the proxy says: {error}") from None
        except ProxyConnectionError:
            raise OSError(f"the proxy at {self._proxy.host}:{self._proxy.port} cannot be reached") from None
        reader, writer = await asyncio.open_connection(sock=connected, limit=buffer_size)
        self._bare_io_reader = self._io_reader = reader
        self._bare_io_writer = self._io_writer = writer

    def __bool__(self) -> bool:
        return True  # nats-py puts a plain transport in the place of one that is false


async def abandon(client: Client) -> None:
    """Close what never became a connection, at once."""
    for name in ("_io_writer", "_bare_io_writer"):
        if writer := getattr(client._transport, name, None):
            writer.transport.abort()  # a TLS handshake that failed would be waited for
    with contextlib.suppress(Exception):
        await asyncio.wait_for(client.close(), 0.1)


async def write(client: Client, block: list[bytes], timeout: float) -> None:
    """Hand over to the system. Raises OSError when the connection is lost, also when the server takes nothing
    for `timeout` seconds: nats-py would wait as long as TCP does, which can be for ever."""
    transport: Any = client._transport
    transport.writelines(block)
    writer: Any = getattr(transport, "_io_writer", None)  # a websocket has none
    left = None
    while True:
        try:
            async with asyncio.timeout(timeout if writer else None):
                await transport.drain()
            return
        except TimeoutError:
            before, left = left, writer.transport.get_write_buffer_size()
            if before is not None and left >= before:
                writer.transport.abort()
                raise ConnectionError(f"it took nothing for {timeout:g} seconds") from None


class Receiver:
    """See Connection.receive."""

    def __init__(self, client: NatsClient, subject: str, taker: Taker, queue: str) -> None:
        self._client = client
        self._subject = subject
        self._taker = taker
        self._queue = queue
        self._sub: Subscription | None = None

    async def __aenter__(self) -> "Receiver":
        # Before the subscription is sent: its first message may be read while we wait for that.
        sid = b"%d" % (self._client._sid + 1)
        self._client.takers[sid] = self._taker
        try:
            self._sub = await self._client.subscribe(self._subject, queue=self._queue)
        except nats.errors.BadSubjectError:
            self._client.takers.pop(sid, None)
            raise BadInput(f"{self._subject!r} is no subject to subscribe to") from None
        except nats.errors.Error as error:
            self._client.takers.pop(sid, None)
            raise Unreachable(f"cannot subscribe: {reason(error)}") from None
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._sub:
            with contextlib.suppress(nats.errors.Error):
                await self._sub.unsubscribe()
            self._client.takers.pop(b"%d" % self._sub._id, None)
