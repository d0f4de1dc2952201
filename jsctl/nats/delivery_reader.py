"""Messages that a consumer delivers, read in runs: their reply subjects say where they are (ADR-15)."""

from collections.abc import Callable, Sequence

from jsctl.nats.acks import PREFIX
from jsctl.nats.message import Message

_PREFIX = PREFIX.encode()


class DeliveryReader:
    """A BulkReader of the messages of one consumer after the other. A message costs half of what a frame and
    a call cost; the handler gets what is unusual.

    take: called with each run. All of its messages are of one consumer, and the last one is the first that no
    other follows.
    """

    def __init__(self, take: Callable[[Sequence[Message]], object]) -> None:
        self._take = take
        self._prefix, self._dots = b" ", 0  #: of the consumer's reply subjects

    def run(self, data: bytes, at: int, sid: bytes, largest: int) -> int:
        """Read the complete messages from `at` on. Returns where they end."""
        find, messages, prefix, skipped = data.find, list[Message](), self._prefix, len(self._prefix)
        add, dots, is_last = messages.append, self._dots, False
        while not is_last and (line_end := find(b"\r\n", at)) >= 0:
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
                prefix, skipped, dots = self._prefix, len(self._prefix), self._dots
            if reply.count(b".") != dots or not reply[skipped:].replace(b".", b"").isdigit():
                break
            start = line_end + 2
            middle, stop = start + int(header_size), start + int(total)
            if not middle <= stop <= start + largest or data[stop : stop + 2] != b"\r\n":
                break
            place, block = str(reply, "utf-8"), data[start:middle]
            add(Message(str(subject, "utf-8", "replace"), data[middle:stop], place, block))
            is_last, at = reply.endswith(b".0"), stop + 2
        if messages:
            self._take(messages)
        return at

    def _learn(self, reply: bytes) -> bool:
        """Note how the reply subjects of a consumer begin, if this is one that ends with what is pending."""
        tokens = reply.split(b".")
        if not reply.startswith(_PREFIX) or len(tokens) not in (9, 11) or not reply.isascii():
            return False
        self._prefix, self._dots = b".".join(tokens[:-5]) + b".", len(tokens) - 1
        return True
