"""Messages: as they are received or stored, and as they are published."""

from collections.abc import Callable
from typing import Any, NamedTuple

from jsctl.nats.acks import Metadata, parse_ack_subject
from jsctl.nats.codec import encode_publish
from jsctl.nats.headers import Headers, parse_headers, parse_status

REPLIES_SIZE = 64 << 20
"""Default maximum of the bytes of all replies to one request."""


Place = tuple[str, bytes, bytes, bytes]
"""Where a stored message is, not parsed yet: stream, and as bytes sequence, RFC 3339 time, and number of
messages that follow."""


class Message:
    """A message that was received or that a stream holds.

    header_block: the raw bytes, empty when there are no headers; `headers` parses them. reply: the reply
    subject, empty when there is none. metadata: where the message is stored; parsed from a place or a
    JetStream reply subject when first used, None for a message that comes from no stream.

    Messages are equal when subject, header block, data, sequence and time are.
    """

    __slots__ = ("_metadata", "data", "header_block", "reply", "subject")

    def __init__(
        self,
        subject: str,
        data: bytes = b"",
        reply: str = "",
        header_block: bytes = b"",
        metadata: Metadata | Place | None = None,
    ) -> None:
        self.subject = subject
        self.data = data
        self.reply = reply
        self.header_block = header_block
        self._metadata = metadata

    @property
    def headers(self) -> Headers:
        """Names and values, in their order, without the status."""
        return parse_headers(self.header_block) if self.header_block else []

    @property
    def status(self) -> tuple[int, str]:
        """Code and description of a status such as 404 or 503; the code is 0 for an ordinary message."""
        return parse_status(self.header_block) if self.header_block else (0, "")

    @property
    def metadata(self) -> Metadata | None:
        """Where the message is stored; None for a message that comes from no stream."""
        metadata = self._metadata
        if isinstance(metadata, Metadata):
            return metadata
        if metadata is not None:
            stream, sequence, time, pending = metadata
            stored_at = str(time, "utf-8", "replace")
            # By tuple.__new__, three times as fast as calling the named tuple.
            metadata = tuple.__new__(Metadata, (stream, int(sequence), stored_at, "", 1, 0, int(pending)))
        elif self.reply:
            metadata = parse_ack_subject(self.reply)
        self._metadata = metadata
        return metadata

    @property
    def sequence(self) -> int:
        """The sequence in its stream; 0 when it comes from no stream."""
        metadata = self.metadata
        return metadata.sequence if metadata else 0

    @property
    def timestamp(self) -> str:
        """When it was stored, as RFC 3339 in UTC; empty when it comes from no stream."""
        metadata = self.metadata
        return metadata.timestamp if metadata else ""

    @property
    def size(self) -> int:
        """Bytes of headers and data."""
        return len(self.header_block) + len(self.data)

    def with_data(self, data: bytes) -> "Message":
        """Return a copy with other data."""
        return Message(self.subject, data, self.reply, self.header_block, self._metadata)

    def _comparison_key(self) -> tuple[Any, ...]:
        return self.sequence, self.subject, self.header_block, self.data, self.timestamp

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self._comparison_key() == other._comparison_key()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"Message({self.subject!r}, {self.data!r}, {self.reply!r}, {self.header_block!r}, "
            f"{self.metadata!r})"
        )


class OutgoingMessage(NamedTuple):
    """A message to publish. time: when it was first published, in ns since the epoch; 0 when unknown."""

    subject: str
    data: bytes
    reply: str = ""
    header_block: bytes = b""
    time: int = 0

    @property
    def size(self) -> int:
        """Bytes of headers and data."""
        return len(self.header_block) + len(self.data)

    def encode(self, reply: str = "") -> bytes:
        """Encode as a frame of the protocol. reply: a reply subject in place of the message's own."""
        return encode_publish(self.subject, self.data, reply or self.reply, self.header_block)


MessageHandler = Callable[[Message], None]
"""Called with a message as soon as it is read; must not raise."""


def decode_message(subject: bytes, reply: bytes, header_block: bytes, data: bytes) -> Message:
    """Return the message of a frame."""
    try:
        return Message(subject.decode(), data, reply.decode() if reply else "", header_block)
    except UnicodeDecodeError:
        names = subject.decode(errors="replace"), reply.decode(errors="replace")
        return Message(names[0], data, names[1], header_block)


def is_no_responders(message: Message) -> bool:
    """Return whether a reply means that nobody listens on the subject of the request."""
    return not message.data and message.status[0] == 503
