"""Messages that a consumer delivers, read in runs: their reply subjects say where they are (ADR-15)."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import overload

from jsctl.nats.acks import PREFIX
from jsctl.nats.message import Message

Row = tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes]
"""A delivered message as it was received: subject, reply subject, sequence in the stream, time (ns since the
epoch, 19 digits), number of messages that follow, header block, data."""


class Deliveries(Sequence[Message]):
    """Messages of one consumer that follow each other. They are made when one is first asked for: what shows
    the rows needs none, and takes half of the time."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self._messages: list[Message] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, at: int) -> Message: ...
    @overload
    def __getitem__(self, at: slice) -> "Deliveries": ...
    def __getitem__(self, at: int | slice) -> "Message | Deliveries":
        if isinstance(at, slice):
            return Deliveries(self.rows[at])
        if self._messages is None and len(self.rows) > 1:
            return _make_message(self.rows[at])
        return self._make_all()[at]  # a consumer that keeps up delivers one by one, each asked for five times

    def __iter__(self) -> Iterator[Message]:
        return iter(self._make_all())

    def _make_all(self) -> list[Message]:
        if self._messages is None:
            self._messages = list(map(_make_message, self.rows))
        return self._messages


def _make_message(row: Row) -> Message:
    subject, reply, _, _, _, block, data = row
    return Message(str(subject, "utf-8", "replace"), data, str(reply, "utf-8"), block)


_FIND = rb"(H)?MSG ([^ \t\r\n]++) %b (%b\d++\.(\d++)\.\d++\.(\d{19})\.(\d++)) (?(1)(\d++) |)(\d++)\r\n"
"""The line of a message, of a subscription id and of the consumer whose reply subjects begin so: whether it
has headers, subject, reply subject, sequence, time, number of messages that follow, size of the headers,
size."""

_TOKENS = rb"(?:[!-\-/-~]+\.){2}"
_find_consumer = re.compile(
    rb"H?MSG [^ \r]+ \d+ (%b%b(?:%b)?)(?:\d+\.){4}\d+ " % (re.escape(PREFIX.encode()), _TOKENS, _TOKENS)
).match
"""Matches the line of any consumer's message; its group is how the reply subjects of that consumer begin, up
to the number of deliveries."""


class DeliveryReader:
    """A BulkReader of the messages of one consumer after the other. A message costs 30 % of what a frame and
    a call cost; the handler gets what is unusual.

    take: called with each run. All of its messages are of one consumer. to_end: the last one of a run is the
    first that no other follows; of a consumer that keeps up, nearly every one is such.
    """

    def __init__(self, take: Callable[[Deliveries], object], *, to_end: bool) -> None:
        self._take = take
        self._last_pending = b"0" if to_end else b""  #: number of messages that follow the last one of a run
        self._match = re.compile(rb"(?!)").match  #: for the lines of the present consumer

    def run(self, data: bytes, at: int, sid: bytes, largest: int) -> int:
        """Read the complete messages from `at` on. Returns where they end."""
        match, rows, last_pending = self._match, list[Row](), self._last_pending
        line = match(data, at)
        if line is None and (consumer := _find_consumer(data, at)):
            match = self._match = re.compile(_FIND % (sid, re.escape(consumer[1]))).match
            line = match(data, at)
        while line:
            _, subject, reply, sequence, time, pending, header_size, size = line.groups()
            start = line.end()
            stop = start + int(size)
            middle = start + int(header_size) if header_size else start
            if not middle <= stop <= start + largest or data[stop : stop + 2] != b"\r\n":
                break
            rows.append((subject, reply, sequence, time, pending, data[start:middle], data[middle:stop]))
            at = stop + 2
            line = match(data, at) if pending != last_pending else None
        if rows:
            self._take(Deliveries(rows))
        return at
