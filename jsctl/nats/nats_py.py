"""nats-py's client, extended. Only this module imports nats-py and touches its private parts
(tests/architecture/test_private_names.py names each of them).

nats-py is loaded without its JetStream half; its client reads messages with jsctl's parser, never leaves out
TLS that was requested, and can connect through a SOCKS5 proxy.
"""

import asyncio
import contextlib
import logging
import re
import sys
import time
import types
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlparse

from jsctl.nats.lean_import import cheap_version, defer_import

_js = defer_import("nats", "js")  # before the first import of nats
with cheap_version("nats"):
    import nats.aio.client
    import nats.errors
from nats.aio.client import Client, Srv  # noqa: E402
from nats.aio.subscription import Subscription  # noqa: E402

from jsctl.base.units import SECOND  # noqa: E402
from jsctl.contexts.settings import Settings  # noqa: E402
from jsctl.errors import BadInput, Denied, JsctlError, MissingDependency, Unreachable  # noqa: E402
from jsctl.nats import awaiting, proxy  # noqa: E402
from jsctl.nats.codec import (  # noqa: E402
    BURST,
    MAX_PAYLOAD,
    FrameParser,
    ProtocolError,
    ServerError,
    Tally,
    compute_message_limit,
    parse_error,
)
from jsctl.nats.failures import RENEWING, LoginUnanswered, NoGreeting, NoTls, describe_error  # noqa: E402
from jsctl.nats.message import Message, MessageHandler, decode_message  # noqa: E402
from jsctl.nats.server_info import check_info  # noqa: E402
from jsctl.nats.tcp_link import TcpLink  # noqa: E402

if _js is not None:
    nats.js = _js

ClientError = nats.errors.Error
"""What nats-py raises."""

StaleConnection = nats.errors.StaleConnectionError

nats.aio.client.DEFAULT_BUFFER_SIZE = 1 << 19
"""Bytes that are read at once: with nats-py's 32 KiB, large messages cost a third more."""

if sys.version_info < (3, 12):
    _asyncio = types.SimpleNamespace(**{**vars(asyncio), "wait_for": awaiting.wait_for})
    for _module in (nats.aio.client, nats.aio.transport):
        vars(_module)["asyncio"] = _asyncio

_LOOKUP_SECONDS = 1
"""Seconds without an answer to a login after which the server looks for its account."""

_CLOSE_TIMEOUT = 1
"""Seconds that `close` may take."""

# It logs a traceback for invalid data from a server, which `NatsClient.fail` reports in one line.
logging.getLogger("nats.aio.client").addFilter(lambda record: False)


_CONTROL = re.compile(rb"\n(?:PONG|INFO|-ERR|\+OK)", re.IGNORECASE)
"""The beginnings of protocol lines that nats-py handles; payloads may contain them, too."""


class NatsClient(Client):
    """nats-py's client with handlers that are called as messages are read, and errors parsed once.

    on_refusal: called with a permissions violation, which does not end the connection. on_failure: called
    with the error that ends the connection for good, before it is closed.
    """

    def __init__(
        self,
        settings: Settings,
        on_refusal: Callable[[ServerError], None],
        on_failure: Callable[[JsctlError], None],
    ) -> None:
        super().__init__()
        # nats-py signs only when it expects a login; a server with no_auth_user does not ask for one.
        self._auth_configured = True
        self.handlers: dict[bytes, MessageHandler] = {}  #: by subscription id
        self.on_refusal = on_refusal
        self._on_failure = on_failure
        self._timeout = settings.timeout
        self.frames = FrameParser()
        self.failing: asyncio.Future[None] | None = None
        self.server_info: Mapping[str, Any] = {}  #: the server's INFO
        self._ps = _Parser(self, self._ps)  # type: ignore[assignment]
        self._socks = proxy.parse_proxy(settings.socks_proxy) if settings.socks_proxy else None

    # -- connecting ---------------------------------------------------------------------------------

    async def open(self, url: str, **options: Any) -> None:
        """Connect to one server. Raises what nats-py raises."""
        started = time.monotonic()
        await self.connect([url], max_reconnect_attempts=-1, **options)
        if not self.is_connected:
            if "user_jwt_cb" in options and time.monotonic() > started + _LOOKUP_SECONDS:
                raise LoginUnanswered
            # nats-py takes an end of file for the PONG that it waits for.
            raise nats.errors.Error("nats: the server closed the connection while logging in")

    def reconnect_to(self, urls: Iterable[str], *, reconnect: bool) -> None:
        """Set further servers, for which the login that worked is valid too, and whether to reconnect."""
        for uri in map(urlparse, urls):
            has_port = uri.port or uri.scheme.startswith("ws")
            self._server_pool.append(Srv(uri if has_port else uri._replace(netloc=f"{uri.netloc}:4222")))
        self.options["allow_reconnect"] = reconnect

    def socket_info(self, name: str) -> Any:
        """Return what asyncio knows of the socket, None when there is no socket."""
        return self._link.info(name) if self._link else None

    @property
    def _link(self) -> TcpLink | None:
        """The TCP or TLS connection; None before there is one, and for a websocket."""
        return self._transport if isinstance(self._transport, TcpLink) else None

    async def abandon(self) -> None:
        """Close an attempt that did not become a connection, at once."""
        self.abort_transport()  # otherwise `close` would wait for a failed TLS handshake
        with contextlib.suppress(Exception):
            async with asyncio.timeout(0.1):
                await self.close()

    async def close(self) -> None:
        """Close within `_CLOSE_TIMEOUT`. While it reconnects, nats-py may cancel the task that it then waits
        for, or wait for a transport that never ends."""
        ending = asyncio.ensure_future(super().close())
        await asyncio.wait([ending], timeout=_CLOSE_TIMEOUT)
        if not ending.done():
            self.abort_transport()  # it waits for a server that reads nothing
            ending.cancel()
        elif not ending.cancelled():
            ending.result()

    def abort_transport(self) -> None:
        """End the transport; drop what it has not sent."""
        if self._link:
            self._link.abort()

    async def fail(self, error: JsctlError) -> None:
        """End the connection for good: what the server sent cannot be trusted any more, or it ended the
        login."""
        self.options["allow_reconnect"] = False
        self._on_failure(error)
        self.abort_transport()
        await self._process_op_err(error)

    async def _process_connect_init(self) -> None:
        was_greeted = bool(self.server_info)
        try:
            await super()._process_connect_init()
        except (OSError, nats.errors.Error) as error:
            self.raise_last_words(error)
            if isinstance(error, nats.errors.Error) and not was_greeted and not self.server_info:
                raise NoGreeting("the server did not greet") from None
            raise
        except (TimeoutError, JsctlError):
            raise
        except Exception as error:  # lines that are too long, INFO of another shape
            raise nats.errors.Error("nats: the server sent what is not the NATS protocol") from error

    def raise_last_words(self, cause: Exception | None = None) -> None:
        """Raise the error that the server sent before it closed the connection (such as too many
        connections), if it was received but not read yet. nats-py would only notice that writing fails."""
        unread = self._link.unread if self._link else b""
        if unread.startswith(b"-ERR"):
            complaint = parse_error(unread.partition(b"\r\n")[0])
            raise nats.errors.Error(f"nats: {complaint.text}") from cause

    async def _connect_to_server(self, s: Srv) -> None:
        if s.uri.scheme in ("ws", "wss"):
            if self._socks:
                raise BadInput("a SOCKS5 proxy cannot be used with a websocket address")
            if not find_spec("aiohttp"):
                raise MissingDependency("websocket addresses need aiohttp", "pip install aiohttp")
        elif self._transport is None:
            self._transport = TcpLink(self._socks)  # type: ignore[assignment]
        try:
            await super()._connect_to_server(s)
        except Exception:
            # asyncio.wait_for loses a cancellation that arrives while a connection is refused: nats-py would
            # then keep reconnecting for ever after `close`.
            if self.is_closed:
                raise asyncio.CancelledError from None
            raise

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
        check_info(info)
        self.server_info = dict(info) if initial_connection else {**self.server_info, **info}
        if initial_connection and "tls" in self.options and not self.options["tls_handshake_first"]:
            # As in the Go client: TLS that was requested is never left out, or secrets would go in the clear.
            if not (info.get("tls_required") or info.get("tls_available")):
                raise NoTls("the server has no TLS")
            info["tls_required"] = True
        await super()._process_info(info, initial_connection)
        self.frames.largest = compute_message_limit(info.get("max_payload", MAX_PAYLOAD))
        if self.is_connecting or self.is_reconnecting:
            await asyncio.sleep(0.001)  # so that an error sent right after INFO is received, too
            self.raise_last_words()

    # -- receiving ----------------------------------------------------------------------------------

    async def receive(
        self, subject: str, handler: MessageHandler, queue: str, tally: Tally | None
    ) -> tuple[bytes, Subscription]:
        """Subscribe; messages go to the handler, or are counted. Returns what `unsubscribe` takes. Raises
        BadInput, Unreachable."""
        # Set before subscribing: the first message may be read while we wait for that.
        sid = b"%d" % (self._sid + 1)
        self.handlers[sid] = handler
        if tally:
            self.frames.tallies[sid] = tally
        try:
            return sid, await self.subscribe(subject, queue=queue)
        except nats.errors.BadSubjectError:
            self.forget(sid)
            raise BadInput(f"{subject!r} is not a valid subject to subscribe to") from None
        except nats.errors.Error as error:
            self.forget(sid)
            raise Unreachable(f"cannot subscribe: {describe_error(error)}") from None

    async def unsubscribe(self, sid: bytes, subscription: Subscription) -> None:
        """End a subscription."""
        with contextlib.suppress(nats.errors.Error):
            await subscription.unsubscribe()
        self.forget(sid)

    def forget(self, sid: bytes) -> None:
        """Drop the handler of a subscription."""
        self.handlers.pop(sid, None)
        self.frames.tallies.pop(sid, None)

    # -- sending ------------------------------------------------------------------------------------

    async def send(self, frames: bytes, *more_frames: bytes) -> None:
        """Send frames; after a burst, or several at once, wait until the socket accepts more. Raises
        OSError."""
        if more_frames:
            self._pending += (frames, *more_frames) if self._link else [b"".join((frames, *more_frames))]
        else:
            self._pending.append(frames)
            self._pending_data_size += len(frames)
        if more_frames or self._pending_data_size >= BURST:
            await self.write_pending()
        else:
            await self._flush_pending()

    async def _flush_pending(self, force_flush: bool = False) -> None:
        await awaiting.await_cancellable(super()._flush_pending(force_flush))

    def post(self, frames: bytes) -> None:
        """Send frames without waiting."""
        self._pending.append(frames)
        self._pending_data_size += len(frames)
        if self._flush_queue is not None and self._flush_queue.empty():
            self._flush_queue.put_nowait(asyncio.get_running_loop().create_future())

    def write(self, frames: bytes) -> None:
        """Send frames at once instead of by nats-py's task: a request takes a third less time."""
        block, self._pending, self._pending_data_size = [*self._pending, frames], [], 0
        transport: Any = self._transport
        transport.writelines(block)

    async def send_now(self, *frames: bytes) -> None:
        """Send frames without the event loop if that is possible. See Connection.send_now. Raises
        OSError."""
        link = self._link
        if link is None:
            await self.send(*frames)
            return
        block, self._pending, self._pending_data_size = [*self._pending, *frames], [], 0
        self._pending[:0] = link.write_now(block, lambda: self.read_now(0)) if self.is_connected else block
        if self._pending:
            link.limit_unsent(0)  # the next frames can only then be sent without the loop
            try:
                await self.write_pending()
            finally:
                link.limit_unsent(None)

    def read_now(self, seconds: float) -> bool:
        """Wait for the next data, and call its handlers without the event loop. See Connection.read_now.

        Returns False if the loop must do it: with TLS, for protocol lines that nats-py handles, at the end
        of the connection, and when nothing arrives in time.
        """
        link = self._link
        parser: Any = self._ps
        if parser.is_busy or not (link and self.is_connected):
            return False
        if not (data := link.read_now(seconds)):
            return False
        is_begun = not self.frames.is_empty
        if not (is_begun or data.startswith((b"MSG ", b"HMSG ", b"PING"))) or _CONTROL.search(data):
            link.feed(data)
            return False
        work = parser.parse(data)
        try:
            awaited = work.send(None)
        except StopIteration:
            return True
        self.failing = asyncio.ensure_future(awaiting.await_rest(work, awaited))
        return False

    async def write_pending(self) -> None:
        """Hand what is pending to the system. Raises OSError when the connection is lost, or the server reads
        nothing for the timeout: nats-py would wait as long as TCP does, perhaps for ever."""
        block, self._pending, self._pending_data_size = self._pending, [], 0
        timeout = self._timeout / SECOND
        transport: Any = self._transport
        transport.writelines(block)
        link = self._link
        unsent = None
        while True:
            try:
                async with asyncio.timeout(timeout if link else None):
                    await transport.drain()
                return
            except TimeoutError:
                unsent_before, unsent = unsent, link.unsent_size if link else 0
                if unsent_before is not None and unsent >= unsent_before:
                    self.abort_transport()
                    raise ConnectionError(f"the server read nothing for {timeout:g} seconds") from None


class _Parser:
    """The interface that nats-py expects of a parser: `parse` for each chunk, `reset` for a new connection.

    Messages go to their handlers at once: 100,000 of them take 0.2 s of processor time. nats-py's own parser
    takes 0.3 s without any handler, as it matches regular expressions and moves its buffer at each message.
    All other lines still go to nats-py's parser.
    """

    def __init__(self, client: NatsClient, original: Any) -> None:
        self._client = client
        self._original = original
        self.is_busy = False  #: whether something that was read is being handled

    def reset(self) -> None:
        self._client.frames.reset()
        self._original.reset()

    async def parse(self, data: bytes) -> None:
        self.is_busy = True
        try:
            await self._parse(data)
        except nats.errors.ProtocolError:
            await self._client.fail(ProtocolError("it sent an unknown line"))
        except (OSError, nats.errors.Error):
            raise
        except Unreachable as error:
            await self._client.fail(error)
        except Exception as error:
            await self._client.fail(ProtocolError(f"what it sent cannot be read ({describe_error(error)})"))
        finally:
            self.is_busy = False

    async def _parse(self, data: bytes) -> None:
        handlers = self._client.handlers
        for _, sid, subject, reply, header_block, payload in self._client.frames.feed(data):
            handler = handlers.get(sid)
            if handler is not None:
                try:  # as `decode_message`, whose call would cost as much as the decoding
                    message = Message(subject.decode(), payload, reply.decode(), header_block)
                except UnicodeDecodeError:
                    message = decode_message(subject, reply, header_block, payload)
                handler(message)
            elif not sid:
                await self._handle_control_line(payload)

    async def _handle_control_line(self, line: bytes) -> None:
        if line.startswith(b"-ERR"):
            error = parse_error(line)
            if error.violation:
                self._client.on_refusal(error)
                return
            if error.is_authentication:  # the JWT has expired, or was revoked
                words = error.text.lower()
                await self._client.fail(Denied(f"the server ended the connection: {words}", RENEWING))
                return
        if line.startswith(b"PING"):
            self._client.post(b"PONG\r\n")
            return
        await self._original.parse(line)
