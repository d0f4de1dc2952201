"""Messages that a consumer delivers, read in runs: their reply subjects say where they are (ADR-15)."""

import re
from collections.abc import Callable, Sequence

from jsctl.nats.acks import PREFIX
from jsctl.nats.message import Message

_FIND = rb"(H)?MSG ([^ \r]++) %b (%b\d++\.\d++\.\d++\.\d++\.(\d++)) (?(1)(\d++) |)(\d++)\r\n"
"""The line of a message, of a subscription id and of the consumer whose reply subjects begin so: whether it
has headers, subject, reply subject, number of messages that follow, size of the headers, size."""

_TOKENS = rb"(?:[!-\-/-~]+\.){2}"
_find_consumer = re.compile(
    rb"H?MSG [^ \r]+ \d+ (%b%b(?:%b)?)(?:\d+\.){4}\d+ " % (re.escape(PREFIX.encode()), _TOKENS, _TOKENS)
).match
"""Matches the line of any consumer's message; its group is how the reply subjects of that consumer begin, up
to the number of deliveries."""


class DeliveryReader:
    """A BulkReader of the messages of one consumer after the other. A message costs 40 % of what a frame and
    a call cost; the handler gets what is unusual.

    take: called with each run. All of its messages are of one consumer, and the last one is the first that no
    other follows.
    """

    def __init__(self, take: Callable[[Sequence[Message]], object]) -> None:
        self._take = take
        self._match = re.compile(rb"(?!)").match  #: for the lines of the present consumer

    def run(self, data: bytes, at: int, sid: bytes, largest: int) -> int:
        """Read the complete messages from `at` on. Returns where they end."""
        match, messages = self._match, list[Message]()
        line = match(data, at)
        if line is None and (consumer := _find_consumer(data, at)):
            match = self._match = re.compile(_FIND % (sid, re.escape(consumer[1]))).match
            line = match(data, at)
        while line:
            _, subject, reply, pending, header_size, size = line.groups()
            start = line.end()
            middle, stop = start + int(header_size or 0), start + int(size)
            if not middle <= stop <= start + largest or data[stop : stop + 2] != b"\r\n":
                break
            place, block = str(reply, "utf-8"), data[start:middle]
            messages.append(Message(str(subject, "utf-8", "replace"), data[middle:stop], place, block))
            at = stop + 2
            line = match(data, at) if pending != b"0" else None
        if messages:
            self._take(messages)
        return at
