"""Messages that a consumer delivers, read in runs: their reply subjects say where they are (ADR-15)."""

from collections.abc import Callable, Sequence

from jsctl.nats.acks import PREFIX
from jsctl.nats.message import Message

_PREFIX = PREFIX.encode()


class DeliveryReader:
    """A BulkReader of the messages of one consumer after the other. A message costs a third of what a frame,
    a call and its place cost; the handler gets what is unusual.

    take: called with each run. All of its messages are of one consumer, and the last one is the first that no
    other follows.
    """

    def __init__(self, take: Callable[[Sequence[Message]], object]) -> None:
        self._take = take
        self._prefix = b" "  #: of the consumer's reply subjects
        self._count = 0  #: of the tokens after it
        self._stream = self._consumer = ""

    def run(self, data: bytes, at: int, sid: bytes, largest: int) -> int:
        """Read the complete messages from `at` on. Returns where they end."""
        find, messages, prefix, skipped = data.find, list[Message](), self._prefix, len(self._prefix)
        stream, consumer, add, pending = self._stream, self._consumer, messages.append, b""
        count = self._count
        while pending != b"0" and (line_end := find(b"\r\n", at)) >= 0:
            words = data[at:line_end].split()
            if len(words) == 6:
                kind, subject, line_sid, reply, header_size, total = words
            elif len(words) == 5:
                kind, subject, line_sid, reply, total = words
                header_size = b"0"
            else:
                break
            if kind != (b"MSG" if len(words) == 5 else b"HMSG") or line_sid != sid:
                break
            if not reply.startswith(prefix):
                if messages or not self._learn(reply):
                    break
                prefix, skipped = self._prefix, len(self._prefix)
                stream, consumer, count = self._stream, self._consumer, self._count
            tokens = reply[skipped:].split(b".")
            if len(tokens) != count or not b"".join((*tokens[:5], header_size, total)).isdigit():
                break
            start = line_end + 2
            middle, stop = start + int(header_size), start + int(total)
            if not middle <= stop <= start + largest or data[stop : stop + 2] != b"\r\n":
                break
            delivered, sequence, consumer_sequence, time, pending = tokens[:5]
            place = stream, sequence, time, consumer, delivered, consumer_sequence, pending
            block, payload = data[start:middle], data[middle:stop]
            add(Message(str(subject, "utf-8", "replace"), payload, str(reply, "utf-8"), block, place))
            at = stop + 2
        if messages:
            self._take(messages)
        return at

    def _learn(self, reply: bytes) -> bool:
        """Note whose messages these are, if the reply subject is that of a delivery."""
        tokens = reply.split(b".")
        at = 2 if len(tokens) == 9 else 4
        if not reply.startswith(_PREFIX) or len(tokens) < at + 7 or not reply.isascii():
            return False
        self._prefix, self._count = b".".join(tokens[: at + 2]) + b".", len(tokens) - at - 2
        self._stream, self._consumer = tokens[at].decode(), tokens[at + 1].decode()
        return True
