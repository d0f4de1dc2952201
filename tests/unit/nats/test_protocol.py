"""The core of a connection, from bytes: however they are cut, the same comes of them."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.errors import BadInput, Denied, JsctlError, NoResponders, RequestTimeout, Unreachable
from jsctl.nats.codec import ProtocolError, encode_publish
from jsctl.nats.failures import LoginUnanswered, NoGreeting, NoTls, NotNats
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.outcomes import ConnectionLost, EndedByServer, Event, Failed, LoggedIn, Refused, TlsNeeded
from jsctl.nats.protocol import Protocol

INFO: dict[str, Any] = {"server_id": "X", "headers": True, "max_payload": 1000, "nonce": "n"}


def info(**fields: Any) -> bytes:
    return b"INFO %b\r\n" % json.dumps({**INFO, **fields}).encode()


def begin(protocol: Protocol, *, wants_tls: bool = False, has_tls: bool = False) -> None:
    protocol.begin(lambda nonce: {"sig": f"of {nonce}"}, wants_tls=wants_tls, has_tls=has_tls)


def log_in(protocol: Protocol) -> None:
    begin(protocol)
    assert protocol.receive(info()) == ()
    protocol.take_output()
    assert protocol.receive(b"PONG\r\n") == [LoggedIn()]


@pytest.fixture
def protocol() -> Protocol:
    """One that is logged in."""
    protocol = Protocol("me", "_INBOX")
    log_in(protocol)
    return protocol


def keep_refusals(protocol: Protocol) -> list[Refused]:
    """What it reports from now on."""
    refusals: list[Refused] = []
    protocol.on_refusal = refusals.append
    return refusals


def send(protocol: Protocol) -> bytes:
    return b"".join(protocol.take_output())


def fail(protocol: Protocol, data: bytes) -> Exception:
    """The error that ends the connection, of bytes that are received."""
    [event] = protocol.receive(data)
    assert isinstance(event, Failed)
    assert not protocol.is_ready and protocol.receive(b"PING\r\n") == ()
    return event.error


# -- cut anywhere -----------------------------------------------------------------------------------

payloads = st.binary(max_size=20) | st.sampled_from([b"\r\n", b"PING\r\n", b"MSG a 1 0\r\n\r\n"])
messages = st.builds(
    lambda sid, reply, head, payload: (
        b"HMSG a %d %b%d %d\r\n%b%b\r\n" % (sid, reply, len(head), len(head) + len(payload), head, payload)
        if head
        else b"MSG a %d %b%d\r\n%b\r\n" % (sid, reply, len(payload), payload)
    ),
    st.integers(1, 3),
    st.sampled_from([b"", b"r.1 "]),
    st.sampled_from([b"", b"NATS/1.0\r\nA: 1\r\n\r\n"]),
    payloads,
)
lines = st.sampled_from(
    [
        b"PING\r\n",
        b"+OK\r\n",
        b"PONG\r\n",
        b'INFO {"ldm": true}\r\n',
        b"-ERR 'Permissions Violation for Publish to \"b\"'\r\n",
        b"-ERR 'Permissions Violation for Subscription to \"a\"'\r\n",
    ]
)
ends = st.sampled_from(
    [b"", b"-ERR 'Stale Connection'\r\n", b"-ERR 'User Authentication Expired'\r\n", b"HELLO\r\n"]
)


def observe(chunks: Sequence[bytes]) -> tuple[list[str], bytes, list[str]]:
    """All that comes of bytes: messages, what is sent, and events."""
    protocol, received = Protocol("me", "_INBOX"), list[str]()
    for _ in range(2):
        protocol.subscribe("a", lambda message: received.append(f"{message!r}"))
    protocol.ping(lambda is_answered: received.append(f"{is_answered}"))
    begin(protocol)
    sent, events = b"", list[Event]()
    for chunk in chunks:
        events += protocol.receive(chunk)
        sent += send(protocol)
    if not protocol.is_ready:
        sent = b""  # it depends on when the error came
    return received, sent, [repr(event) for event in events]


@given(st.lists(messages | lines, max_size=12), ends, st.lists(st.integers(1, 400), max_size=8))
def test_the_same_comes_of_bytes_however_they_are_cut(
    frames: list[bytes], end: bytes, sizes: list[int]
) -> None:
    data = info() + b"PONG\r\n" + b"".join(frames) + end
    whole = observe([data])
    assert observe([data[at : at + 1] for at in range(len(data))]) == whole
    chunks, at = list[bytes](), 0
    for size in sizes:
        chunks.append(data[at : at + size])
        at += size
    assert observe([*chunks, data[at:]]) == whole


def test_a_session_cut_at_each_byte() -> None:
    data = info() + b"PONG\r\nMSG a 1 2\r\nhi\r\nPING\r\nHMSG a 2 r 12 13\r\nNATS/1.0\r\n\r\nx\r\n"
    whole = observe([data])
    for at in range(len(data)):
        assert observe([data[:at], data[at:]]) == whole
    received, sent, events = whole
    assert len(received) == 3 and sent.endswith(b"PING\r\nPONG\r\n")
    assert events == [repr(LoggedIn())]


# -- connecting -------------------------------------------------------------------------------------


def test_the_login() -> None:
    protocol = Protocol("me", "_INBOX")
    begin(protocol)
    assert not protocol.has_output
    assert protocol.receive(info(max_payload=7)) == ()
    connect, ping, end = send(protocol).split(b"\r\n")
    assert (ping, end) == (b"PING", b"") and protocol.max_payload == 7
    hello = json.loads(connect.removeprefix(b"CONNECT "))
    assert hello["sig"] == "of n" and hello["name"] == "me" and hello["headers"] and hello["echo"]
    assert not protocol.is_ready
    assert protocol.receive(b"PONG\r\n") == [LoggedIn()]
    assert protocol.is_ready


@pytest.mark.parametrize(
    ("wants_tls", "fields"),
    [(True, {"tls_available": True}), (False, {"tls_required": True}), (True, {"tls_required": True})],
)
def test_what_comes_before_tls_is_dropped(wants_tls: bool, fields: dict[str, Any]) -> None:
    """A man in the middle may have added it."""
    protocol = Protocol("me", "_INBOX")
    begin(protocol, wants_tls=wants_tls)
    assert protocol.receive(info(**fields) + b"PONG\r\nMSG a") == [TlsNeeded()]
    assert protocol.needs_tls and not protocol.has_output
    assert protocol.receive(b"PONG\r\n") == ()
    protocol.continue_with_tls()
    assert send(protocol).startswith(b"CONNECT ")
    assert protocol.receive(b"PONG\r\n") == [LoggedIn()]


def test_tls_that_is_wanted_is_never_left_out() -> None:
    protocol = Protocol("me", "_INBOX")
    begin(protocol, wants_tls=True)
    assert isinstance(fail(protocol, info()), NoTls)
    assert not protocol.has_output


def test_tls_from_the_beginning() -> None:
    protocol = Protocol("me", "_INBOX")
    begin(protocol, wants_tls=True, has_tls=True)
    assert protocol.receive(info(tls_required=True)) == ()
    assert send(protocol).startswith(b"CONNECT ")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n", NotNats),
        (b"MSG a 1 0\r\n\r\nPONG\r\n", NotNats),
        (b"x" * 70_000, NotNats),
        (b"PONG\r\n", NotNats),
        (b"INFO []\r\n", ProtocolError),
        (b"INFO {\r\n", ProtocolError),
        (b"-ERR 'maximum connections exceeded'\r\n", ConnectionLost),
        (info() + b"-ERR 'Authorization Violation'\r\n", ConnectionLost),
    ],
)
def test_what_is_not_a_login(data: bytes, kind: type[Exception]) -> None:
    protocol = Protocol("me", "_INBOX")
    begin(protocol)
    [event] = protocol.receive(data)
    assert isinstance(event, Failed) and type(event.error) is kind


def test_a_server_that_hangs_up(monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = Protocol("me", "_INBOX")
    begin(protocol)
    assert isinstance(protocol.explain_end(), NoGreeting)
    protocol.receive(info())
    assert "while logging in" in str(protocol.explain_end())
    protocol.receive(b"PONG\r\n")
    assert isinstance(protocol.explain_end(), ConnectionLost)
    protocol.begin(lambda nonce: {"jwt": "J"}, wants_tls=False, has_tls=False)
    protocol.receive(info())
    monkeypatch.setattr("jsctl.nats.protocol._LOOKUP_SECONDS", -1)
    assert isinstance(protocol.explain_end(), LoginUnanswered)


def test_a_login_that_cannot_be_made() -> None:
    def authenticate(nonce: str) -> dict[str, str]:
        raise BadInput("no key")

    protocol = Protocol("me", "_INBOX")
    protocol.begin(authenticate, wants_tls=False, has_tls=False)
    assert isinstance(fail(protocol, info()), BadInput)


# -- the next connection ----------------------------------------------------------------------------


def test_subscriptions_and_what_was_published_go_to_the_next_connection(protocol: Protocol) -> None:
    received: list[Message] = []
    protocol.subscribe("a.>", received.append)
    other = protocol.subscribe("b", received.append, queue="q")
    assert send(protocol) == b"SUB a.> 1\r\nSUB b q 2\r\n"
    protocol.receive(b"MSG a.")
    protocol.end()
    protocol.unsubscribe(other)
    protocol.subscribe("c", received.append)
    protocol.output.append(encode_publish("d", b"1"))
    assert not protocol.is_ready and send(protocol) == b""
    begin(protocol)
    protocol.receive(info())
    _, rest = send(protocol).split(b"\r\n", 1)
    assert rest == b"SUB a.> 1\r\nSUB c 3\r\nPING\r\n"
    protocol.receive(b"PING\r\n")
    assert send(protocol) == b"PONG\r\n", "what was published waits for the login"
    protocol.receive(b"PONG\r\nMSG a.b 1 2\r\nhi\r\n")
    assert send(protocol) == b"PUB d 1\r\n1\r\n"
    assert [message.data for message in received] == [b"hi"]


def test_frames_that_were_not_sent_stay_if_they_publish(protocol: Protocol) -> None:
    """A PING too many would make the next one seem answered at once."""
    interest = protocol.subscribe("a", lambda message: None)
    protocol.output.append(encode_publish("d", b"1"))
    protocol.unsubscribe(interest)
    protocol.ping(lambda is_answered: None)
    protocol.receive(b"PING\r\n")
    protocol.end()
    log_in(protocol)
    assert send(protocol) == b"PUB d 1\r\n1\r\n"


def test_pings_end_in_their_order_or_with_the_connection(protocol: Protocol) -> None:
    ends: list[tuple[int, bool]] = []

    def add(number: int) -> Callable[[bool], None]:
        return lambda is_answered: ends.append((number, is_answered))

    for number in range(3):
        protocol.ping(add(number))
    assert send(protocol) == b"PING\r\n" * 3
    protocol.receive(b"PONG\r\nPONG\r\n")
    assert ends == [(0, True), (1, True)]
    protocol.end()
    assert ends[2:] == [(2, False)]
    log_in(protocol)
    assert protocol.receive(b"PONG\r\n") == (), "nobody asked"


def test_messages_of_a_subscription_that_ended_are_dropped(protocol: Protocol) -> None:
    received: list[Message] = []
    interest = protocol.subscribe("a", received.append)
    protocol.unsubscribe(interest)
    protocol.unsubscribe(interest)
    assert send(protocol) == b"SUB a 1\r\nUNSUB 1\r\n"
    protocol.receive(b"MSG a 1 0\r\n\r\n")
    assert not received


@pytest.mark.parametrize("subject", ["", "a b", "a\r\nPUB b 0", "a..b", ">.a", "a*", "a.b>"])
def test_subjects_that_nobody_can_subscribe_to(protocol: Protocol, subject: str) -> None:
    with pytest.raises(BadInput, match="not a valid subject to subscribe to"):
        protocol.subscribe(subject, lambda message: None)
    with pytest.raises(BadInput):
        protocol.subscribe("a", lambda message: None, queue="q\r\n")
    assert not protocol.has_output


# -- requests ---------------------------------------------------------------------------------------


def ask(protocol: Protocol, subject: str, ended: list[str]) -> tuple[Any, bytes]:
    """A request, and its reply subject."""
    protocol.open_inbox()
    request = protocol.begin_request(OutgoingMessage(subject, b"?"), lambda: ended.append(subject))
    protocol.output.append(request.frame)
    return request, request.reply_subject.encode()


def test_replies_find_their_requests(protocol: Protocol) -> None:
    ended: list[str] = []
    first, first_reply = ask(protocol, "a", ended)
    second, second_reply = ask(protocol, "b", ended)
    assert send(protocol) == b"SUB %b.* 1\r\nPUB a %b 1\r\n?\r\nPUB b %b 1\r\n?\r\n" % (
        protocol.inbox.encode(),
        first_reply,
        second_reply,
    )
    protocol.receive(b"MSG %b 1 1\r\n2\r\nMSG %b 1 1\r\n1\r\n" % (second_reply, first_reply))
    assert (first.get_reply(1).data, second.get_reply(1).data, ended) == (b"1", b"2", ["b", "a"])
    protocol.receive(b"MSG %b 1 1\r\n3\r\n" % first_reply)
    assert first.get_reply(1).data == b"1", "a second reply is dropped"


def test_requests_without_a_reply(protocol: Protocol) -> None:
    ended: list[str] = []
    request, reply = ask(protocol, "a", ended)
    with pytest.raises(RequestTimeout, match=r"no answer on a in 0\.5s"):
        request.get_reply(0.5)
    protocol.receive(b"HMSG %b 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n" % reply)
    with pytest.raises(NoResponders, match="nobody answers on a"):
        request.get_reply(1)
    forgotten, reply = ask(protocol, "a", ended)
    protocol.forget(forgotten)
    protocol.receive(b"MSG %b 1 0\r\n\r\n" % reply)
    assert not forgotten.is_ended
    failed, _ = ask(protocol, "a", ended)
    protocol.fail_requests(Unreachable("lost"))
    with pytest.raises(Unreachable, match="lost"):
        failed.get_reply(1)


def test_a_refused_subject_fails_its_requests_only(protocol: Protocol) -> None:
    ended: list[str] = []
    refused, _ = ask(protocol, "a", ended)
    other, _ = ask(protocol, "b", ended)
    violation = b"-ERR 'Permissions Violation for Publish to \"%b\"'\r\n"
    assert protocol.receive(violation % b"a") == ()
    with pytest.raises(Denied, match="not allowed to publish to a"):
        refused.get_reply(1)
    assert not other.is_ended and ended == ["a"]
    refusals = keep_refusals(protocol)
    assert protocol.receive(violation % b"a") == ()
    assert [refusal.violation for refusal in refusals] == [("publish", "a")]


def test_a_refused_inbox_refuses_all_requests() -> None:
    protocol = Protocol("me", "_INBOX")
    inbox = protocol.open_inbox()
    begin(protocol)
    protocol.receive(info())
    refusal = b"-ERR 'Permissions Violation for Subscription to \"%b\"'\r\n" % inbox.subject.encode()
    assert protocol.receive(refusal + b"PONG\r\n") == [LoggedIn()]
    with pytest.raises(Denied, match=r"not allowed to subscribe to _INBOX\.>, where replies arrive"):
        protocol.begin_request(OutgoingMessage("a", b""), lambda: None)
    refusals = keep_refusals(protocol)
    assert protocol.receive(refusal) == () and refusals, "it was confirmed before"


# -- errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"-ERR 'Stale Connection'\r\n", ConnectionLost),
        (b"-ERR 'Maximum Payload Violation'\r\n", EndedByServer),
        (b"-ERR 'User Authentication Expired'\r\n", Denied),
        (b"HELLO\r\n", ProtocolError),
        (b"MSG a 1 -5\r\n", ProtocolError),
        (b"INFO null\r\n", ProtocolError),
    ],
)
def test_what_ends_a_connection(protocol: Protocol, line: bytes, kind: type[Exception]) -> None:
    error = fail(protocol, line)
    assert type(error) is kind
    assert isinstance(error, JsctlError | ConnectionLost)


def test_a_refusal_before_a_message_or_an_error_is_reported_first(protocol: Protocol) -> None:
    seen: list[str] = []
    interest = protocol.subscribe("a", lambda message: seen.append("message"))
    protocol.on_refusal = lambda refusal: seen.append("refusal")
    data = b"-ERR 'Permissions Violation for Publish to \"b\"'\r\nMSG a %b 0\r\n\r\nHELLO\r\n"
    assert [type(event) for event in protocol.receive(data % interest.sid)] == [Failed]
    assert seen == ["refusal", "message"]
