"""The connection: with nats_client the only user of nats-py. Everything above speaks bytes, subjects and
our errors.

What nats-py leaves to its users is settled here: a first connection that fails at once and says why,
a time-out on everything, denied publishes told apart from silence, no secret in any message.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

# First: it decides how nats is loaded.
from jsctl.nats.nats_py import NatsClient, Receiver, abandon, write

# isort: split
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription as NatsSubscription

from jsctl.contexts.model import public_url as public_url
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, Denied, JsctlError, NoResponders, RequestTimeout, Unreachable
from jsctl.nats import login
from jsctl.nats.login import reason
from jsctl.nats.parser import Taker
from jsctl.units import SECOND

Watcher = Callable[[str, str], bool | None]
"""As an EventHandler; True says that an error is dealt with, and nobody else needs to be told."""

EventHandler = Callable[[str, str], None]
"""Called with an event ("disconnected", "reconnected", "error", "closed") and a sentence."""


BURST = 1 << 16
"""Bytes that are gathered before a burst of frames is sent."""

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Message(NamedTuple):
    """A message as it came. Header order and duplicates are as nats-py keeps them."""

    subject: str
    data: bytes
    reply: str = ""
    headers: Mapping[str, str] = _NO_HEADERS


class Connection:
    """One connection to a NATS network. Use `Connection.open`."""

    def __init__(self, client: "NatsClient", settings: Settings, on_event: EventHandler | None) -> None:
        self._client = client
        self._on_event = on_event
        self._waiting: dict[str, set[asyncio.Future[Any]]] = {}  #: requests by subject
        self._denials: set[asyncio.Future[Any]] = set()  #: requests that the server refused
        self._live = False  #: connected once
        self._said = ""  #: the last error that was told
        self.watchers: list[Watcher] = []  #: told of events, beside the one who opened it
        self.settings = settings

    @classmethod
    async def open(
        cls,
        settings: Settings,
        *,
        on_event: EventHandler | None = None,
        reconnect: bool = True,
        tls_hostname: str = "",
    ) -> "Connection":
        """Connect, or raise Unreachable, Denied or BadInput within the settings' time-out.

        reconnect: whether a connection once made is made again when it is lost.
        tls_hostname: the name in the server's certificate, where the URL has an address instead.
        """
        settings = await login.prepare(settings)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + settings.timeout / SECOND
        servers = login.servers(settings.url)
        failures: list[JsctlError] = []
        for number, server in enumerate(servers):
            left = max(deadline - loop.time(), 0.1)
            others = len(servers) - number - 1
            self = cls(NatsClient(settings), settings, on_event)
            options = await login.authentication(settings, server) | login.tls(settings, server)
            if tls_hostname:
                options["tls_hostname"] = tls_hostname
            try:
                # A server that hangs must leave time for those after it.
                async with asyncio.timeout(min(left / (others + 1), 2) if others else left):
                    await self._connect(server, options)
            except (OSError, ValueError, ImportError, nats.errors.Error, TimeoutError) as error:
                failures.append(login.failure(error, server, settings))
            else:
                self._client.add_servers(s.url for s in servers if s != server)
                self._client.options["allow_reconnect"] = reconnect
                return self
            finally:
                if not self._live:
                    await abandon(self._client)
        raise _most_telling(failures, settings)

    async def _connect(self, server: login.Server, options: Mapping[str, Any]) -> None:
        """One attempt at one server. Raises what nats-py raises."""
        await self._client.connect(
            [server.url],
            name=self.settings.connection_name or "jsctl",
            connect_timeout=self.settings.timeout / SECOND,  # type: ignore[arg-type]
            max_reconnect_attempts=-1,
            reconnect_time_wait=0.5,  # type: ignore[arg-type]
            inbox_prefix=self.settings.inbox_prefix,
            error_cb=self._failed,
            disconnected_cb=self._handler("disconnected", "connection lost"),
            reconnected_cb=self._handler("reconnected", "connected again"),
            closed_cb=self._handler("closed", "connection closed"),
            **options,
        )
        if not self._client.is_connected:
            # nats-py takes an end of file in place of the PONG for a success.
            raise nats.errors.Error("nats: the server closed the connection while logging in")
        self._live = True

    async def _failed(self, error: Exception) -> None:
        if not self._live:
            raise error  # ends nats-py's connect, which would retry for minutes
        self._on_error(error)

    @property
    def server_info(self) -> Mapping[str, Any]:
        """The server's INFO (version, server_id, domain, cluster, max_payload ...)."""
        info: Mapping[str, Any] = self._client._server_info
        return info

    @property
    def url(self) -> str:
        """The connected URL, without credentials."""
        connected = self._client.connected_url
        return public_url(connected.geturl()) if connected else public_url(self.settings.url)

    def socket_info(self, name: str) -> Any:
        """What asyncio knows of the socket (`peername`, `sockname`, `ssl_object`), else None."""
        writer = getattr(self._client._transport, "_io_writer", None)
        return writer.get_extra_info(name) if writer else None

    @property
    def is_connected(self) -> bool:
        return self._client.is_connected

    async def request(
        self,
        subject: str,
        data: bytes = b"",
        *,
        headers: Mapping[str, str] | None = None,
        timeout: int | None = None,
    ) -> Message:
        """One reply. `timeout` in ns. Raises NoResponders, RequestTimeout, Denied or Unreachable."""
        limit = (timeout or self.settings.timeout) / SECOND
        task = asyncio.ensure_future(
            self._client.request(subject, data, timeout=limit, headers=dict(headers) if headers else None)
        )
        waiting = self._waiting.setdefault(subject, set())
        waiting.add(task)
        try:
            return _message(await task)
        except nats.errors.NoRespondersError:
            raise NoResponders(f"nobody answers on {subject}") from None
        except (nats.errors.TimeoutError, TimeoutError):
            if not self._client.is_connected:
                raise Unreachable(f"lost the connection to {self.url}") from None
            raise RequestTimeout(f"no answer on {subject} in {limit:g}s") from None
        except asyncio.CancelledError:
            if task in self._denials:
                raise Denied(f"not allowed to publish to {subject}", "ask for that permission") from None
            raise
        except nats.errors.Error as error:
            raise Unreachable(f"request to {subject} failed: {reason(error)}") from None
        finally:
            waiting.discard(task)
            self._denials.discard(task)
            if not waiting:
                self._waiting.pop(subject, None)

    async def request_many(
        self,
        subject: str,
        data: bytes = b"",
        *,
        expect: int = 0,
        timeout: int | None = None,
        stall: int = SECOND // 4,
    ) -> list[Message]:
        """All replies that come: until `expect` of them, `stall` ns of silence after one, or `timeout` ns.

        Raises NoResponders when nobody listens.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + (timeout or self.settings.timeout) / SECOND
        found: list[Message] = []
        inbox = self.new_inbox()
        async with self.subscribe(inbox) as replies:
            await self.publish(subject, data, reply=inbox)
            while not expect or len(found) < expect:
                left = deadline - loop.time()
                message = await replies.next(int((min(left, stall / SECOND) if found else left) * SECOND))
                if message is None:
                    break
                if message.headers.get("Status") == "503":
                    raise NoResponders(f"nobody answers on {subject}")
                found.append(message)
        return found

    async def publish(
        self, subject: str, data: bytes = b"", *, reply: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        """Hand a message to the connection; `flush` makes sure that the server has it."""
        try:
            await self._client.publish(subject, data, reply=reply, headers=dict(headers) if headers else None)
        except nats.errors.MaxPayloadError:
            raise BadInput(
                f"the message has {len(data):,} bytes, the server takes {self._client.max_payload:,}"
            ) from None
        except nats.errors.BadSubjectError:
            raise BadInput(f"{subject!r} is no subject to publish to") from None
        except nats.errors.Error as error:
            raise Unreachable(f"cannot publish: {reason(error)}") from None

    def subscribe(self, subject: str, *, queue: str = "") -> "Subscription":
        """An async context manager; see Subscription."""
        return Subscription(self._client, subject, queue)

    def receive(self, subject: str, taker: Taker, *, queue: str = "") -> "Receiver":
        """An async context manager: while it is open, `taker` is called for each message, as it is read.

        100,000 messages cost 0.2 s of processor time so, 6.7 s through nats-py's queue and `next`; headers
        stay as they came.
        """
        return Receiver(self._client, subject, taker, queue)

    async def send(self, frames: bytes) -> None:
        """Send frames (`frames.frame`), and wait while the socket takes no more.

        100,000 messages in bursts cost 0.04 s of processor time, 0.27 s through `publish`. While the
        connection is lost it waits for the next one, up to the settings' time-out. Raises Unreachable.
        """
        client = self._client
        if not client.is_connected:
            await self.reconnected()
        await client._send_command(frames)
        if client._pending_data_size < BURST:
            await client._flush_pending()
        else:
            await self._write_pending()

    async def _write_pending(self) -> None:
        block, self._client._pending, self._client._pending_data_size = self._client._pending, [], 0
        try:
            await write(self._client, block, self.settings.timeout / SECOND)
        except OSError as error:
            raise Unreachable(f"lost the connection to {self.url}: {reason(error)}") from None

    def post(self, frames: bytes) -> None:
        """As `send`, without waiting: for acknowledgements from within a Taker."""
        self._client._pending.append(frames)
        self._client._pending_data_size += len(frames)
        if self._client._flush_queue is not None and self._client._flush_queue.empty():
            self._client._flush_queue.put_nowait(asyncio.get_running_loop().create_future())

    async def reconnected(self, timeout: int | None = None) -> None:
        """Wait for a connection that was lost, `timeout` ns at most. Raises Unreachable."""
        deadline = asyncio.get_running_loop().time() + (timeout or self.settings.timeout) / SECOND
        while not self._client.is_connected:
            if self._client.is_closed or asyncio.get_running_loop().time() > deadline:
                raise Unreachable(f"lost the connection to {self.url}")
            await asyncio.sleep(0.02)

    @property
    def max_payload(self) -> int:
        """Bytes that the server takes in headers and data."""
        return self._client.max_payload

    def new_inbox(self) -> str:
        """A subject of our own below the inbox prefix."""
        return self._client.new_inbox()

    async def flush(self, timeout: int | None = None) -> None:
        """Wait until the server has seen, and refused, what was published. `timeout` in ns."""
        try:
            if self._client.is_connected:
                await self._write_pending()  # nats-py sends its PING ahead of what is pending
            await self._client.flush(timeout=(timeout or self.settings.timeout) / SECOND)  # type: ignore[arg-type]
        except (nats.errors.Error, TimeoutError) as error:
            raise Unreachable(f"the server did not take everything: {reason(error)}") from None

    async def rtt(self) -> int:
        """Round-trip time to the connected server in ns."""
        try:
            return int(await self._client.rtt(timeout=self.settings.timeout / SECOND) * SECOND)  # type: ignore[arg-type]
        except (nats.errors.Error, TimeoutError) as error:
            raise Unreachable(f"no answer to a ping: {reason(error)}") from None

    async def close(self) -> None:
        """Close at once; what was published and not flushed may be lost."""
        self._on_event = None
        with contextlib.suppress(nats.errors.Error, OSError):
            await self._client.close()

    def _handler(self, event: str, sentence: str) -> Callable[[], Awaitable[None]]:
        async def handle() -> None:
            if self._on_event and self._live:
                self._on_event(event, f"{sentence} ({self.url})")
                for watcher in self.watchers:
                    watcher(event, sentence)

        return handle

    def _on_error(self, error: Exception) -> None:
        text = str(error)
        refused = [
            future
            for subject, waiting in self._waiting.items()
            if "permissions violation for publish" in text.lower() and f'"{subject}"'.lower() in text.lower()
            for future in waiting
        ]
        for future in refused:
            self._denials.add(future)
            future.cancel()
        if refused:
            return  # who waits for them is told
        lost = isinstance(error, (OSError, TimeoutError, nats.errors.StaleConnectionError))
        if lost or (text == self._said and not self.is_connected):
            return  # "disconnected" has said it; each try to reconnect would say it again
        self._said = text
        told = [watcher("error", reason(error)) for watcher in self.watchers]
        if self._on_event and not any(told):
            self._on_event("error", reason(error))


class Subscription:
    """Interest in a subject: `async with connection.subscribe(s) as sub: async for message in sub`."""

    def __init__(self, client: Client, subject: str, queue: str) -> None:
        self._client = client
        self._subject = subject
        self._queue = queue
        self._sub: NatsSubscription | None = None

    async def __aenter__(self) -> "Subscription":
        try:
            self._sub = await self._client.subscribe(
                self._subject, queue=self._queue, pending_msgs_limit=-1, pending_bytes_limit=-1
            )
        except nats.errors.BadSubjectError:
            raise BadInput(f"{self._subject!r} is no subject to subscribe to") from None
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._sub:
            with contextlib.suppress(nats.errors.Error):
                await self._sub.unsubscribe()

    async def next(self, timeout: int) -> Message | None:
        """The next message, or None after `timeout` ns without one."""
        assert self._sub is not None, "enter the subscription first"
        if timeout <= 0:
            return None
        try:
            return _message(await self._sub.next_msg(timeout=timeout / SECOND))
        except (nats.errors.TimeoutError, TimeoutError):
            return None

    async def __aiter__(self) -> AsyncIterator[Message]:
        assert self._sub is not None, "enter the subscription first"
        async for message in self._sub.messages:
            yield _message(message)


def _message(message: Msg) -> Message:
    # nats-py's own header names are enum members, which no plain text finds.
    headers = {str.__str__(key): value for key, value in (message.headers or {}).items()}
    return Message(message.subject, message.data, message.reply or "", headers)


def _most_telling(failures: list[JsctlError], settings: Settings) -> JsctlError:
    """A refused login says more than a server that is away."""
    chosen = next((failure for failure in failures if isinstance(failure, Denied)), failures[-1])
    if len(failures) == 1 or isinstance(chosen, Denied):
        return chosen
    return Unreachable(
        f"cannot connect to any of {public_url(settings.url)}; the last: {chosen.message}", chosen.hint
    )
