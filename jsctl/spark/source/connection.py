"""The connection of Spark's tasks: messages of a stream become Arrow batches as they are read.

Long runs of replies to direct gets are split together (see `jsctl.spark.source.cutting`); everything else
is parsed frame by frame, at a tenth of the rate.
"""

import json
import socket
import time
from collections.abc import Callable, Sequence
from typing import Self, cast

from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.errors import ApiError, Unreachable
from jsctl.jetstream.api import Json, parse_response
from jsctl.nats.acks import find_ack_tokens
from jsctl.nats.addresses import ServerAddress
from jsctl.nats.blocking import BlockingConnection
from jsctl.nats.codec import MAX_LINE, read_frame
from jsctl.nats.direct_get import STREAM_MARK
from jsctl.nats.error_codes import ErrorCode
from jsctl.nats.message import OutgoingMessage
from jsctl.nats.outcomes import ConnectionLost
from jsctl.spark.source.replies import AnswerLimits, Reply

RUN, LONG = 16 << 10, 512 << 10
"""Bytes of replies to a direct get: at least RUN are cut together, and after LONG the wait for more ends.
"""

LARGE = 3 << 10
"""Size of a message (bytes) above which parsing it alone is cheaper than searching it for marks."""

PAUSE = 0.02
"""Seconds of silence after which the received bytes are parsed."""

MIN_RATE = 4 << 10
"""Bytes per second that must arrive while no message is complete: the timeout of a request is for
silence, and a byte now and then does not reset it. A message of 1 MiB takes at most four minutes."""

_STATUS = b"\r\nNATS/1.0 "  #: a stored message's headers begin without the blank
_STATUS_SIZE = 256  #: more than what follows it, at the end of an answer

_OFFLINE = (
    ErrorCode.STREAM_OFFLINE,
    ErrorCode.STREAM_OFFLINE_REASON,
    ErrorCode.CONSUMER_OFFLINE,
    ErrorCode.CONSUMER_OFFLINE_REASON,
)
"""Error codes of a cluster for a stream whose servers are away."""


class StreamConnection(BlockingConnection):
    """A connection that reads from one stream at a time, named by `watch`. has_answered: a `call` of it."""

    has_answered = False

    def __init__(self, link: socket.socket, address: ServerAddress, settings: Settings, name: str) -> None:
        super().__init__(link, address, settings, name)
        self._buffer = bytearray()  #: its first `_filled` bytes are received and not parsed yet
        self._filled = 0
        self._unparsed = 0  #: bytes received since the buffer was last parsed
        self._has_ended = False  #: whether an answer ended in the last parsed bytes
        self._mark = b"\r\nHMSG %b." % self.protocol.inbox.encode()
        self._replies: dict[bytes, Reply] = {}
        self._consumer_reply = Reply("", AnswerLimits("CONSUMER.MSG.NEXT", 0, 0))
        self._message_count = 0  #: messages that were requested so far
        self._expected = 0  #: maximum number of bytes of all requests so far
        self.watch("")

    @classmethod
    def _open(cls, address: ServerAddress, settings: Settings, name: str, seconds: float) -> Self:
        self = super()._open(address, settings, name, seconds)
        self._buffer += self.protocol.frames.take_rest()
        self._filled = len(self._buffer)
        return self

    def watch(self, stream: str) -> None:
        """Set the stream whose messages are read from now on."""
        self._stream = stream
        self._middle = STREAM_MARK + b"%b\r\nNats-Subject: " % stream.encode()

    # -- requests -----------------------------------------------------------------------------------

    def ask(self, limits: AnswerLimits, data: bytes) -> tuple[bytes, Reply]:
        """Publish a request for messages; return the key for `forget`, and the reply, which is filled while
        `pump` runs."""
        reply_subject, frame = self.protocol.encode_request(OutgoingMessage(limits.subject, data))
        self.send(frame)
        key = reply_subject.rpartition(".")[2].encode()
        self._expected = max(self._expected, self.received) + limits.bytes + self.protocol.frames.largest
        reply = self._replies[key] = Reply(self._stream, limits)
        return key, reply

    def forget(self, key: bytes) -> None:
        """Drop the replies to a request that are still to come."""
        self._replies.pop(key, None)

    def open_consumer_reply(self, limits: AnswerLimits) -> Reply:
        """Return the reply that receives a consumer's messages from now on: they do not name the
        request."""
        self._consumer_reply = Reply(self._stream, limits)
        return self._consumer_reply

    def call(self, subject: str, body: Json | None = None, timeout: int = 0) -> Json:
        """Make a JetStream API request and return the response. `timeout` in ns.

        Raises ApiError, Unreachable, Denied.
        """
        reply = self.request(subject, json.dumps(body).encode() if body else b"", timeout=timeout)
        self.has_answered = True
        try:
            return parse_response(reply.data, subject)
        except ApiError as error:
            if error.code == 503 or error.err_code in _OFFLINE:  # no leader yet, for one
                raise Unreachable(error.message, error.hint) from None
            raise

    # -- reading ------------------------------------------------------------------------------------

    def read_until(self, is_done: Callable[[], bool], timeout: int) -> None:
        """Read until `is_done`.

        Raises TimeoutError after `timeout` ns without a requested message or
        MIN_RATE of the answer's bytes.
        """
        seconds = timeout / SECOND
        min_bytes = max(1, int(MIN_RATE * seconds))
        message_count, received, deadline = self._message_count, self.received, time.monotonic() + seconds
        while not is_done():
            self.pump(deadline)
            is_faster = self.received - received >= min_bytes and self.received <= self._expected
            if is_faster or self._message_count != message_count:
                message_count, received, deadline = (
                    self._message_count,
                    self.received,
                    time.monotonic() + seconds,
                )

    def pump(self, deadline: float) -> None:
        """Receive and parse what arrives. deadline: seconds of time.monotonic. Raises TimeoutError."""
        if deadline <= time.monotonic():
            raise TimeoutError
        is_worthwhile = bool(self._unparsed) and self._has_ended and self._is_worth_parsing()
        if not is_worthwhile:
            try:
                self._fill(min(deadline, time.monotonic() + PAUSE) if self._unparsed else deadline)
                is_worthwhile = self._is_worth_parsing()
            except TimeoutError:
                if not self._unparsed:
                    raise
                self._parse()
            except ConnectionLost:
                self._parse()
                raise
        if is_worthwhile:
            self._parse(one_answer=True)
        self._raise_refusal()

    def _fill(self, deadline: float) -> None:
        """Read into the buffer. Raises TimeoutError at the deadline."""
        if len(self._buffer) < self._filled + self._chunk:
            self._buffer += bytes(len(self._buffer) + self._chunk)
        with memoryview(self._buffer) as view, view[self._filled : self._filled + self._chunk] as room:
            count = self._receive_into(room, deadline)
        self._filled += count
        self._unparsed += count

    def _is_worth_parsing(self) -> bool:
        """Return whether to parse the received bytes now: long runs of replies are cheaper to parse."""
        return (
            self._unparsed >= LONG
            or not self._buffer.startswith(self._mark[2:])
            or self._buffer.find(_STATUS, max(0, self._filled - _STATUS_SIZE), self._filled) >= 0
        )

    def _parse(self, *, one_answer: bool = False) -> None:
        """Handle complete frames. one_answer: leave the beginning of the answer that follows one that
        ended."""
        buffer, filled, at, one_by_one = self._buffer, self._filled, 0, 0
        self._has_ended = False
        while at < filled:
            if (
                one_answer
                and self._has_ended
                and filled - at < LONG
                and buffer.startswith(self._mark[2:], at)
            ):
                break
            end = at
            if (
                at >= one_by_one
                and filled - at >= RUN
                and buffer.startswith(self._mark[2:], at)
                and self._read_size(at) < LARGE
            ):
                end = self._cut_run(at)
                # The end of a run comes alone. Searching all bytes for each of several ends would be slow.
                one_by_one = end + (1 if end - at >= RUN else RUN)
            if end == at:
                end = self._parse_frame(at)
            if end == at:
                break
            at = end
        if at:  # a large frame is parsed only when all of it has arrived
            buffer[: filled - at] = buffer[at:filled]
            self._filled -= at
        self._unparsed = filled - at if self._has_ended and one_answer else 0

    def _read_size(self, at: int) -> int:
        """Return the size of the message whose line begins at `at`; 0 when the line is not complete."""
        end = self._buffer.find(b"\r\n", at, at + MAX_LINE)
        size = self._buffer[at : max(at, end)].rpartition(b" ")[2]
        return int(size) if size.isdigit() and len(size) < 10 else 0

    def _cut_run(self, at: int) -> int:
        """Deliver the replies from `at` on that can be cut together; return where the rest starts."""
        try:
            from jsctl.spark.source import cutting
        except ImportError:  # without numpy, which comes with pandas, everything is parsed frame by frame
            return at
        with memoryview(self._buffer) as view, view[at : self._filled] as run:
            batches, size = cutting.cut_run(run, self._mark, self._replies, self._middle)
        for key, batch in batches:
            self._replies[key].add(batch)
            self._message_count += len(batch)
        return at + size

    def _parse_frame(self, at: int) -> int:
        """Handle the frame at `at`. Returns where the next one starts, or `at` when it is not complete."""
        buffer = cast(bytes, self._buffer)  # a bytearray, whose parts become bytes below
        frame = read_frame(buffer, at, self._filled, self.protocol.frames.largest)
        end, sid, subject, reply, header_block, data = frame
        if end > self._filled:
            return at
        if sid and reply:
            self._add_delivery(bytes(subject), bytes(reply), bytes(header_block), bytes(data))
        elif sid and (answer := self._replies.get(bytes(subject.rpartition(b".")[2]))) is not None:
            answer.decode(bytes(header_block), bytes(data))
            self._message_count += 1
            self._has_ended = self._has_ended or bool(answer.status)
        else:
            parts = (bytes(part) for part in frame[1:])
            self._handle(self.protocol.receive_frame((end, *parts)))  # type: ignore[arg-type]
        return end

    def _add_delivery(self, subject: bytes, reply: bytes, header_block: bytes, data: bytes) -> None:
        tokens = reply.split(b".")
        ack_tokens = find_ack_tokens(tokens) if tokens[:2] == [b"$JS", b"ACK"] else None
        if ack_tokens is not None:
            self._consumer_reply.append(subject, ack_tokens[3], ack_tokens[5], data, header_block or None)
            self._consumer_reply.pending = int(ack_tokens[6])
            self._message_count += 1


class Connector:
    """A factory of connections to the servers of some settings, and to the servers that these announce.

    addresses: the announced servers.
    """

    def __init__(self, settings: Settings, addresses: Sequence[ServerAddress] = ()) -> None:
        self.addresses = tuple(addresses)
        self._settings = settings

    def open(self) -> StreamConnection:
        """Connect. Raises Unreachable, Denied, BadInput."""
        connection = StreamConnection.open(self._settings, learned=self.addresses)
        by_url = {address.url: address for address in (*self.addresses, *connection.other_addresses())}
        self.addresses = tuple(by_url.values())
        return connection
