"""The connection: the only user of nats-py. Everything above speaks bytes, subjects and our errors.

What nats-py leaves to its users is settled here: a first connection that fails at once and says why,
a time-out on everything, denied publishes told apart from silence, no secret in any message.
"""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from jsctl.jetstream.lean import deferred

_js = deferred("nats", "js")  # before the first import of nats

import nats.errors  # noqa: E402
from nats.aio.client import Client  # noqa: E402
from nats.aio.msg import Msg  # noqa: E402
from nats.aio.subscription import Subscription as NatsSubscription  # noqa: E402

from jsctl.contexts.settings import Settings  # noqa: E402
from jsctl.errors import BadInput, Denied, NoResponders, RequestTimeout, Unreachable  # noqa: E402
from jsctl.units import SECOND  # noqa: E402

if _js is not None:
    nats.js = _js

EventHandler = Callable[[str, str], None]
"""Called with an event ("disconnected", "reconnected", "error", "closed") and a sentence."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it came. Header order and duplicates are as nats-py keeps them."""

    subject: str
    data: bytes
    reply: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


class Connection:
    """One connection to a NATS network. Use `Connection.open`."""

    def __init__(self, client: Client, settings: Settings, on_event: EventHandler | None) -> None:
        self._client = client
        self._on_event = on_event
        self._waiting: dict[str, set[asyncio.Future[Any]]] = {}  #: requests by subject
        self._denials: set[asyncio.Future[Any]] = set()  #: requests that the server refused
        self.settings = settings

    @classmethod
    async def open(
        cls, settings: Settings, *, on_event: EventHandler | None = None, reconnect: bool = True
    ) -> "Connection":
        """Connect, or raise Unreachable, Denied or BadInput within the settings' time-out.

        reconnect: whether a connection once made is made again when it is lost.
        """
        client = Client()
        self = cls(client, settings, on_event)
        servers = _servers(settings.url)
        failures: list[Exception] = []

        async def failed(error: Exception) -> None:
            # Raised from here, an error ends nats-py's connect, which would retry for two minutes.
            if not client.is_connecting and client._server_info:  # connected once
                self._on_error(error)
                return
            failures.append(error)
            if len(failures) >= len(servers) or isinstance(error, nats.errors.AuthorizationError):
                raise error

        options: dict[str, Any] = {
            "servers": servers,
            "name": settings.connection_name or "jsctl",
            "connect_timeout": settings.timeout / SECOND,
            "max_reconnect_attempts": -1,
            "reconnect_time_wait": 0.5,
            "allow_reconnect": True,
            "inbox_prefix": settings.inbox_prefix,
            "error_cb": failed,
            "disconnected_cb": self._handler("disconnected", "connection lost"),
            "reconnected_cb": self._handler("reconnected", "connected again"),
            "closed_cb": self._handler("closed", "connection closed"),
            **_authentication(settings),
            **_tls(settings),
        }
        try:
            async with asyncio.timeout(settings.timeout / SECOND):
                await client.connect(**options)
        except TimeoutError:
            await _abandon(client)
            raise Unreachable(
                f"cannot connect to {public_url(settings.url)}: no answer in {settings.timeout / SECOND:g}s",
                "is it a NATS server? --server, --context or --timeout may help",
            ) from None
        except (OSError, ValueError, nats.errors.Error, ssl.SSLError) as error:
            await _abandon(client)
            raise _connect_failure(failures[-1] if failures else error, settings) from None
        if not reconnect:
            client.options["allow_reconnect"] = False
        return self

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
            raise Unreachable(f"request to {subject} failed: {_reason(error)}") from None
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
            raise Unreachable(f"cannot publish: {_reason(error)}") from None

    def subscribe(self, subject: str, *, queue: str = "") -> "Subscription":
        """An async context manager; see Subscription."""
        return Subscription(self._client, subject, queue)

    def new_inbox(self) -> str:
        """A subject of our own below the inbox prefix."""
        return self._client.new_inbox()

    async def flush(self, timeout: int | None = None) -> None:
        """Wait until the server has seen all that was published. `timeout` in ns."""
        try:
            await self._client.flush(timeout=(timeout or self.settings.timeout) / SECOND)  # type: ignore[arg-type]
        except (nats.errors.Error, TimeoutError) as error:
            raise Unreachable(f"the server did not take everything: {_reason(error)}") from None

    async def rtt(self) -> int:
        """Round-trip time to the connected server in ns."""
        try:
            return int(await self._client.rtt(timeout=self.settings.timeout / SECOND) * SECOND)  # type: ignore[arg-type]
        except (nats.errors.Error, TimeoutError) as error:
            raise Unreachable(f"no answer to a ping: {_reason(error)}") from None

    async def close(self) -> None:
        """Close at once; what was published and not flushed may be lost."""
        self._on_event = None
        with contextlib.suppress(nats.errors.Error, OSError):
            await self._client.close()

    def _handler(self, event: str, sentence: str) -> Callable[[], Awaitable[None]]:
        async def handle() -> None:
            if self._on_event:
                self._on_event(event, f"{sentence} ({self.url})")

        return handle

    def _on_error(self, error: Exception) -> None:
        text = str(error)
        for subject, waiting in self._waiting.items():
            if "permissions violation for publish" in text.lower() and f'"{subject}"'.lower() in text.lower():
                for future in waiting:
                    self._denials.add(future)
                    future.cancel()
        if self._on_event:
            self._on_event("error", _reason(error))


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


def public_url(url: str) -> str:
    """A URL, or several with commas, without user and password."""
    return ",".join(_without_credentials(part.strip()) for part in url.split(","))


def _without_credentials(url: str) -> str:
    parts = urlsplit(url if "://" in url else f"nats://{url}")
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _message(message: Msg) -> Message:
    return Message(message.subject, message.data, message.reply or "", message.headers or {})


def _servers(url: str) -> list[str]:
    servers = []
    for part in url.split(","):
        server = part.strip()
        if not server:
            continue
        server = server if "://" in server else f"nats://{server}"
        parts = urlsplit(server)
        try:
            usable = (
                bool(parts.hostname) and parts.scheme in ("nats", "tls", "ws", "wss") and (parts.port or True)
            )
        except ValueError:
            usable = False
        if not usable:
            raise BadInput(f"{_without_credentials(server)!r} is no server address", "use nats://host:port")
        servers.append(server)
    if not servers:
        raise BadInput("the server address is empty", "use nats://host:port")
    return servers


def _authentication(settings: Settings) -> dict[str, Any]:
    """nats-py's options for what was given; credentials in the URL go first, as in the Go client."""
    if "@" in settings.url:
        return {}
    if settings.user:
        return {"user": settings.user, "password": settings.password}
    if settings.creds:
        return {"user_credentials": _existing(settings.creds, "credentials file")}
    if settings.nkey:
        return {"nkeys_seed": _existing(settings.nkey, "nkey seed file")}
    if settings.jwt and settings.seed:
        return _jwt_and_seed(settings.jwt, settings.seed)
    if settings.token:
        return {"token": settings.token}
    return {}


def _jwt_and_seed(jwt: str, seed: str) -> dict[str, Any]:
    import base64

    import nkeys

    def sign(nonce: str) -> bytes:
        pair = nkeys.from_seed(bytearray(seed.strip().encode()))
        return base64.b64encode(pair.sign(nonce.encode()))

    # nats-py sends a signature only when it believes that authentication was configured.
    return {"user_jwt_cb": lambda: bytearray(jwt.strip().encode()), "signature_cb": sign, "token": None}


def _existing(path: str, what: str) -> str:
    full = Path(path).expanduser()
    if not full.is_file():
        raise BadInput(f"{what} {path} does not exist")
    return str(full)


def _tls(settings: Settings) -> dict[str, Any]:
    urls = [urlsplit(part).scheme for part in settings.url.split(",")]
    if not (settings.tlscert or settings.tlskey or settings.tlsca or settings.tlsfirst or "tls" in urls):
        return {}
    try:
        context = ssl.create_default_context(
            cafile=_existing(settings.tlsca, "CA certificate") if settings.tlsca else None
        )
        if settings.tlscert or settings.tlskey:
            if not (settings.tlscert and settings.tlskey):
                raise BadInput("a client certificate needs both --tlscert and --tlskey")
            context.load_cert_chain(
                _existing(settings.tlscert, "certificate"), _existing(settings.tlskey, "certificate key")
            )
    except ssl.SSLError as error:
        raise BadInput(f"the TLS files cannot be used: {error.reason or error}") from None
    return {"tls": context, "tls_handshake_first": settings.tlsfirst}


async def _abandon(client: Client) -> None:
    with contextlib.suppress(Exception):
        await asyncio.wait_for(client.close(), 1)


def _connect_failure(error: Exception, settings: Settings) -> Exception:
    where = public_url(settings.url)
    if isinstance(error, nats.errors.AuthorizationError) or "authorization" in str(error).lower():
        return Denied(
            f"{where} refuses the login: authorization violation", "check user, password, creds or token"
        )
    if isinstance(error, ssl.SSLError) or isinstance(error.__cause__, ssl.SSLError):
        return Unreachable(
            f"TLS with {where} failed: {_reason(error)}", "check --tlsca, --tlscert and --tlskey"
        )
    return Unreachable(
        f"cannot connect to {where}: {_reason(error)}", "jsctl server run starts a local server"
    )


def _reason(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return (str(error) or type(error).__name__).removeprefix("nats: ")
