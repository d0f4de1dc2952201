"""The core of a connection: NATS's client protocol, without a socket. Bytes in, events out, bytes to send.

It logs in and decides about TLS, keeps subscriptions and subscribes again over the next connection, finds the
request of a reply, and counts pings. A driver moves the bytes, and waits: `blocking` or `asyncio_driver`.
"""

import json
import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jsctl import __version__
from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput, Denied, JsctlError
from jsctl.nats.codec import (
    MAX_PAYLOAD,
    BulkReader,
    Frame,
    FrameParser,
    ProtocolError,
    ServerError,
    Violation,
    check_info,
    compute_message_limit,
    encode_text,
    parse_error,
)
from jsctl.nats.events import denied_error
from jsctl.nats.failures import RENEWING, LoginUnanswered, NoGreeting, NoTls, NotNats, describe_error
from jsctl.nats.login import Authenticate
from jsctl.nats.message import Message, MessageHandler, OutgoingMessage, decode_message
from jsctl.nats.outcomes import (
    ConnectionLost,
    EndedByServer,
    Event,
    Failed,
    LoggedIn,
    Refused,
    Request,
    TlsNeeded,
)
from jsctl.nats.subjects import explain_wildcards, is_subject, validate_subject

_LOOKUP_SECONDS = 1
"""Seconds without an answer to a login after which the server looks for its account."""

ENDED, GREETING, TLS, LOGIN, READY = range(5)
"""Phases of a connection: there is none; the server's INFO, TLS, and the answer to the login are awaited; it
can be used."""


class _Control(bytes):
    """A frame that concerns one connection: the next one begins with its own."""


class Interest:
    """A subscription. sid: its number. refusal: why the server refuses it, if `is_unconfirmed`."""

    def __init__(self, sid: bytes, subject: str, queue: str) -> None:
        self.sid = sid
        self.subject = subject
        self.frame = b"SUB %b %b\r\n" % (encode_text(f"{subject} {queue}" if queue else subject), sid)
        self.is_unconfirmed = False
        self.refusal: JsctlError | None = None


class Protocol:
    """What a client knows of its connection, and of the connections after it: `begin` starts each of them.

    info: the server's INFO. output: frames to send; a driver adds those that are published, and takes all
    with `take_output`. inbox: below it are the replies to all requests. on_refusal: called as the handlers of
    messages are, in the order in which the server sent both. phase: see above.
    """

    def __init__(self, name: str, inbox_prefix: str) -> None:
        self._name = name
        self._inbox_prefix = inbox_prefix
        self._handlers: dict[bytes, MessageHandler] = {}
        self._interests: dict[bytes, Interest] = {}
        self._last_sid = 0
        self._requests: dict[str, Request] = {}  #: by reply subject
        self._last_request = 0
        self._pings: deque[Callable[[bool], object]] = deque()
        self._events: list[Event] = []
        self._control: list[bytes] = []  #: to be sent before the login is accepted
        self._authenticate: Authenticate = lambda nonce: {}
        self._wants_tls = self._has_tls = self._has_jwt = self._is_greeted = False
        self._login_at = 0.0  #: monotonic
        self.frames = FrameParser()
        self.info: Mapping[str, Any] = {}
        self.inbox = self.new_inbox()
        self.inbox_interest: Interest | None = None
        self.on_refusal: Callable[[Refused], object] = lambda refusal: None
        self.output: list[bytes] = []
        self.phase = ENDED

    @property
    def is_ready(self) -> bool:
        """Whether the server has accepted the login, and the connection lasts."""
        return self.phase == READY

    @property
    def needs_tls(self) -> bool:
        """Whether the driver must make the connection a TLS connection."""
        return self.phase == TLS

    @property
    def has_output(self) -> bool:
        """Whether something is to be sent."""
        return bool(self._control or self.output)

    @property
    def has_requests(self) -> bool:
        """Whether a request has no reply yet."""
        return bool(self._requests)

    @property
    def max_payload(self) -> int:
        """Maximum number of bytes that the server accepts in headers and data."""
        return int(self.info.get("max_payload") or 0)

    def new_inbox(self) -> str:
        """Return a new subject below the inbox prefix."""
        return f"{self._inbox_prefix}.{os.urandom(12).hex()}"

    # -- connecting ---------------------------------------------------------------------------------

    def begin(self, authenticate: Authenticate, *, wants_tls: bool, has_tls: bool) -> None:
        """Start with a new connection. wants_tls: TLS must not be left out. has_tls: it began already."""
        self.end()
        self._authenticate = authenticate
        self._wants_tls, self._has_tls = wants_tls, has_tls
        self._is_greeted = False
        self.phase = GREETING

    def stop(self) -> None:
        """Ignore what is still received: the client closes the connection."""
        self.phase = ENDED

    def end(self) -> None:
        """Forget the connection. Subscriptions, requests and what was published stay for the next one."""
        self.phase = ENDED
        self.frames.reset()
        self._control.clear()
        self.output = [frame for frame in self.output if not isinstance(frame, _Control)]
        self._events.clear()
        pings, self._pings = self._pings, deque()
        for on_end in pings:
            on_end(False)

    def explain_end(self) -> Exception:
        """Return the error for a connection that the server closed without a word."""
        if self.phase == GREETING:
            return NoGreeting("the server closed the connection without a reason")
        if self.phase == LOGIN:
            if self._has_jwt and time.monotonic() > self._login_at + _LOOKUP_SECONDS:
                return LoginUnanswered()
            return ConnectionAbortedError("the server closed the connection while logging in")
        return ConnectionLost("the server closed the connection")

    def continue_with_tls(self) -> None:
        """Log in, now that the connection has TLS. What came before it was dropped: it may be forged."""
        self._has_tls = True
        self._log_in()

    def _greet(self, info: Mapping[str, Any]) -> None:
        self.info = info
        is_offered = info.get("tls_required") or info.get("tls_available")
        if self._wants_tls and not self._has_tls and not is_offered:
            raise NoTls("the server has no TLS")  # secrets would go in the clear
        if (self._wants_tls or info.get("tls_required")) and not self._has_tls:
            self.phase = TLS
            self._events.append(TlsNeeded())
        else:
            self._log_in()

    def _log_in(self) -> None:
        has_headers = bool(self.info.get("headers", True))
        hello: dict[str, Any] = {
            "verbose": False,
            "pedantic": False,
            "lang": "python3",
            "version": __version__,
            "protocol": 1,
        }
        hello |= {"headers": has_headers, "no_responders": has_headers, "echo": True, "name": self._name}
        login = self._authenticate(self.info.get("nonce") or "")
        self._has_jwt, self._login_at = "jwt" in login, time.monotonic()
        self.phase = LOGIN
        self._control.append(b"CONNECT %b\r\n" % json.dumps({**hello, **login}).encode())
        self._control += [interest.frame for interest in self._interests.values()]
        self._control.append(b"PING\r\n")

    # -- sending ------------------------------------------------------------------------------------

    def take_output(self) -> list[bytes]:
        """Return what is to be sent now; what was published is, once the login is accepted."""
        blocks, self._control = self._control, []
        if self.phase == READY:
            blocks, self.output = blocks + self.output if blocks else self.output, []
        return blocks

    def _add_control(self, frame: bytes) -> None:
        if self.phase >= LOGIN:
            (self.output if self.phase == READY else self._control).append(_Control(frame))

    def ping(self, on_end: Callable[[bool], object]) -> None:
        """Ask for an answer that follows all that was sent. on_end: called with True for the answer, False
        when the connection ends before."""
        self._pings.append(on_end)
        self._add_control(b"PING\r\n")

    def subscribe(
        self, subject: str, handler: MessageHandler, *, queue: str = "", bulk: BulkReader | None = None
    ) -> Interest:
        """Subscribe, on this connection and those after it. Raises BadInput."""
        validate_subject(subject, "subscribe to")
        if not is_subject(subject) or explain_wildcards([subject]) or any(c.isspace() for c in queue):
            raise BadInput(f"{subject!r} is not a valid subject to subscribe to")
        sid = b"%d" % (self._last_sid + 1)
        interest = self._interests[sid] = Interest(sid, subject, queue)
        self._last_sid += 1
        self._handlers[sid] = handler
        if bulk:
            self.frames.bulk_readers[sid] = bulk
        self._add_control(interest.frame)
        return interest

    def unsubscribe(self, interest: Interest) -> None:
        """End a subscription."""
        if self._interests.pop(interest.sid, None):
            self._handlers.pop(interest.sid)
            self.frames.bulk_readers.pop(interest.sid, None)
            self._add_control(b"UNSUB %b\r\n" % interest.sid)

    def open_inbox(self) -> Interest:
        """Subscribe to the replies of all requests, at the first of them."""
        if self.inbox_interest is None:
            self.inbox_interest = self.subscribe(f"{self.inbox}.*", self._handle_reply)
            self.inbox_interest.is_unconfirmed = True
        return self.inbox_interest

    def begin_request(self, message: OutgoingMessage, on_end: Callable[[], object]) -> Request:
        """Return a request, whose frame the driver sends. Raises the error of an inbox that is refused."""
        reply_subject, frame = self.encode_request(message)
        request = self._requests[reply_subject] = Request(message.subject, reply_subject, frame, on_end)
        return request

    def encode_request(self, message: OutgoingMessage) -> tuple[str, bytes]:
        """Return the subject of the replies to a request, and its frame, for a driver that reads these
        replies itself. Raises the error of an inbox that is refused."""
        if self.inbox_interest and self.inbox_interest.refusal:
            raise self.inbox_interest.refusal
        self._last_request += 1
        reply_subject = f"{self.inbox}.{self._last_request}"
        return reply_subject, message.encode(reply_subject)

    def forget(self, request: Request) -> None:
        """Drop a reply that is still to come."""
        self._requests.pop(request.reply_subject, None)

    def fail_requests(self, error: JsctlError) -> None:
        """End all requests with an error."""
        requests, self._requests = self._requests, {}
        for request in requests.values():
            request.end(None, error)

    # -- receiving ----------------------------------------------------------------------------------

    def receive(self, data: bytes) -> Sequence[Event]:
        """Handle what was received: call the handlers of messages, and return the other events."""
        if self.phase in (ENDED, TLS):
            return ()
        handlers = self._handlers if self.phase >= LOGIN else {}
        try:
            for _, sid, subject, reply, header_block, payload in self.frames.feed(data):
                handler = handlers.get(sid)
                if handler is not None:
                    try:  # as `decode_message`, whose call would cost as much as the decoding
                        message = Message(subject.decode(), payload, reply.decode(), header_block)
                    except UnicodeDecodeError:
                        message = decode_message(subject, reply, header_block, payload)
                    handler(message)
                elif not sid:
                    self._handle_line(payload)
                    if self.phase == TLS:  # what follows may be forged
                        self.frames.reset()
                        break
                    handlers = self._handlers
        except Exception as error:
            self._fail(error)
        return self._take_events()

    def receive_frame(self, frame: Frame) -> Sequence[Event]:
        """Handle a frame that the driver has read itself."""
        _, sid, subject, reply, header_block, payload = frame
        try:
            if not sid:
                self._handle_line(payload)
            elif handler := self._handlers.get(sid):
                handler(decode_message(subject, reply, header_block, payload))
        except Exception as error:
            self._fail(error)
        return self._take_events()

    def _take_events(self) -> Sequence[Event]:
        if not self._events:
            return ()
        events, self._events = self._events, []
        return events

    def _fail(self, error: Exception) -> None:
        """Record that nothing more can be read."""
        if self.phase == GREETING and isinstance(error, ProtocolError | ValueError) and not self._is_greeted:
            error = NotNats("it is not a NATS server")
        elif not isinstance(error, JsctlError | ConnectionLost | OSError):
            error = ProtocolError(f"what it sent cannot be read ({describe_error(error)})")
        self._events.append(Failed(error))
        self.phase = ENDED

    def _handle_reply(self, message: Message) -> None:
        if request := self._requests.pop(message.subject, None):
            request.end(message)

    def _handle_line(self, line: bytes) -> None:
        if line.startswith(b"INFO "):
            self._handle_info(line[5:])
        elif line.startswith(b"-ERR"):
            self._handle_error(parse_error(line))
        elif self.phase == GREETING:
            raise NotNats("it is not a NATS server")
        elif line.startswith(b"PING"):
            self._add_control(b"PONG\r\n")
        elif line.startswith(b"PONG"):
            if self.phase == LOGIN:
                self.phase = READY
                if self.inbox_interest:
                    self.inbox_interest.is_unconfirmed = False
                self._events.append(LoggedIn())
            elif self._pings:
                self._pings.popleft()(True)
        elif not line.startswith(b"+OK"):
            raise ProtocolError("it sent an unknown line")

    def _handle_info(self, text: bytes) -> None:
        self._is_greeted = True
        try:
            info = parse_json(text)
        except ValueError:
            raise ProtocolError("its INFO is not JSON") from None
        check_info(info)
        self.frames.largest = compute_message_limit(info.get("max_payload", MAX_PAYLOAD))
        if self.phase == GREETING:
            self._greet(info)
        else:
            self.info = {**self.info, **info}

    def _handle_error(self, error: ServerError) -> None:
        if violation := error.violation:
            self._handle_refusal(error.text, violation)
        elif self.phase != READY:
            raise ConnectionLost(error.text)  # `connection_error` knows what it means
        elif error.is_authentication:  # the JWT has expired, or was revoked
            raise Denied(f"the server ended the connection: {error.text.lower()}", RENEWING)
        elif error.is_stale:
            raise ConnectionLost(error.text)
        else:
            raise EndedByServer(f"the server ended the connection: {error.text.lower()}")

    def _handle_refusal(self, text: str, violation: Violation) -> None:
        """Fail what waits for a subject that the server refuses, or else report it."""
        operation, subject = violation
        refusal = denied_error(operation, subject, self._inbox_prefix)
        if operation == "subscription":
            waiting = [
                each for each in self._interests.values() if each.is_unconfirmed and each.subject == subject
            ]
            for interest in waiting:
                interest.refusal = refusal
            if waiting:
                return
        else:
            requests = [each for each in self._requests.values() if each.subject == subject]
            for request in requests:
                del self._requests[request.reply_subject]
                request.end(None, refusal)
            if requests:
                return
        self.on_refusal(Refused(text, violation, refusal))
