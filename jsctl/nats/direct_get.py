"""Replies to direct gets, without a socket: the stored messages in them, and how a batch ended (ADR-31).

Any replica of a stream may answer, and so may a mirror in place of its origin. So a reply may belong to
another stream, and a batch that ends early may come from a replica that lags. nats-server (server/stream.go)
appends its own headers about a message to those that are stored with it, in a fixed order.
"""

import re
from functools import cache
from typing import NamedTuple

from jsctl.nats.acks import Metadata
from jsctl.nats.headers import VERSION, find_header, parse_status
from jsctl.nats.message import Message

STREAM_MARK = b"\r\nNats-Stream: "
"""Where the server's own headers begin. A stored header may look the same: the last one counts."""

TAIL = (b"Nats-Sequence: ", b"Nats-Time-Stamp: ", b"Nats-Num-Pending: ", b"Nats-Last-Sequence: ")
"""The server's headers after `Nats-Stream` and `Nats-Subject`; the last two are those of a batch."""

END, NO_MESSAGE, TIMEOUT, TOO_MANY, NO_RESPONDERS = 204, 404, 408, 413, 503
"""Statuses: end of a batch, nothing matches, invalid request, too many subjects, nobody answers."""

_LINE = rb"HMSG \S+ (\d+) (\d{1,9}) (\d{1,9})\r\n(?=NATS/1\.0\r)"
"""The line of a reply without a status."""

_PLACE = rb"\r\nNats-Stream: (.*)\r\nNats-Subject: (.*)\r\nNats-Sequence: (\d+)\r\nNats-Time-Stamp: (.*)\r\n"
_SERVER_HEADERS = _PLACE + rb"(?:Nats-Num-Pending: (\d+)\r\n)?(?:Nats-Last-Sequence: (\d+)\r\n)?\r\n\Z"
_BATCH_HEADERS = _PLACE + rb"Nats-Num-Pending: (\d+)\r\nNats-Last-Sequence: (\d+)\r\n\r\n\Z"


class DirectReply(NamedTuple):
    """The parts of one stored message in a reply, as bytes.

    headers: as stored, without the empty line that ends a block. pending: messages of the batch's filter
    that follow, None when it is not a reply of a batch. previous: sequence of the message before it in the
    batch, 0 at its start.
    """

    stream: bytes
    subject: bytes
    sequence: bytes
    timestamp: bytes
    pending: int | None
    previous: int
    headers: bytes

    def to_message(self, data: bytes) -> Message:
        """Return the message as it is stored."""
        metadata = Metadata(
            self.stream.decode(errors="replace"),
            int(self.sequence),
            self.timestamp.decode(errors="replace"),
            pending=self.pending or 0,
        )
        block = self.headers + b"\r\n\r\n" if len(self.headers) > len(VERSION) else b""
        return Message(self.subject.decode(errors="replace"), data, "", block, metadata)


def parse_direct_reply(header_block: bytes) -> DirectReply | None:
    """Parse the header block of a reply; None when it holds no stored message."""
    start = header_block.rfind(STREAM_MARK)
    match = _compile_server_headers().match(header_block, start) if start >= 0 else None
    if match is None:
        return None
    stream, subject, sequence, timestamp, pending, previous = match.groups()
    return DirectReply(  # by position: keywords would take half as long again
        stream,
        subject,
        sequence,
        timestamp,
        None if pending is None else int(pending),
        int(previous or 0),
        header_block[:start],
    )


@cache
def _compile_server_headers() -> re.Pattern[bytes]:
    return re.compile(_SERVER_HEADERS)


@cache
def _compile_line() -> re.Pattern[bytes]:
    return re.compile(_LINE)


class BatchDecoder:
    """A decoder of the replies to one batch direct get of a stream.

    messages: stored messages so far. last: the sequence of the last one. status: code and description
    of the end, None before it. pending: number of messages after the end.
    is_foreign: another stream answered. has_gap: replies were lost. Messages after either are not decoded, so
    that those before are complete. is_single: a server without batches (before 2.11) sent one message.
    """

    def __init__(self, stream: str) -> None:
        self._stream = stream.encode()
        self._name = stream
        self._match = _compile_server_headers().match
        self._match_batch = re.compile(_BATCH_HEADERS.replace(b"(.*)", re.escape(self._stream), 1)).match
        self.messages: list[Message] = []
        self.last = 0
        self.pending = 0
        self.status: tuple[int, str] | None = None
        self.is_foreign = False
        self.has_gap = False
        self.is_single = False

    @property
    def is_broken(self) -> bool:
        """Whether the batch must be requested again, beginning after `last`."""
        return self.is_foreign or self.has_gap

    @property
    def is_ended(self) -> bool:
        """Whether no more messages of this batch will be decoded."""
        return self.status is not None or self.is_broken or self.is_single

    def run(self, data: bytes, at: int, sid: bytes, largest: int) -> int:
        """Decode replies that follow each other, as `decode` does one; see BulkReader.

        A message costs half of what a frame, a call and `decode` cost. `decode` gets what is unusual.
        """
        match_line, match_headers, find_mark = _compile_line().match, self._match_batch, data.rfind
        name, mark = self._name, STREAM_MARK
        last, add = b"%d" % self.last, self.messages.append
        if self.is_ended:
            return at
        while line := match_line(data, at):
            line_sid, header_size, total = line.groups()
            start = line.end()
            middle, stop = start + int(header_size), start + int(total)
            if line_sid != sid or not middle <= stop <= start + largest or data[stop : stop + 2] != b"\r\n":
                break
            begin = find_mark(mark, start, middle)
            if begin < 0 or not (headers := match_headers(data, begin, middle)):
                break
            subject, sequence, time, pending, previous = headers.groups()
            if previous != last and previous != b"0":
                break
            block = data[start:begin] + b"\r\n\r\n" if begin > start + len(VERSION) else b""
            place = name, sequence, time, pending
            add(Message(str(subject, "utf-8", "replace"), data[middle:stop], "", block, place))
            last, at = sequence, stop + 2
        self.last = int(last)
        return at

    def decode(self, reply: Message) -> None:
        """Add the stored message of a reply, or note the end of the batch, or that it is unusable."""
        block = reply.header_block
        if block[8:9] != b"\r":  # the first line has a status, or there are no headers
            self._end(block)
            return
        if self.is_foreign or self.has_gap or self.is_single:
            return
        start = block.rfind(STREAM_MARK)
        match = self._match(block, start) if start >= 0 else None
        if match is None:
            self.is_foreign = True
            return
        stream, subject, sequence, timestamp, pending, previous = match.groups()
        if stream != self._stream:
            self.is_foreign = True
        elif previous and int(previous) not in (0, self.last):
            self.has_gap = True
        elif pending is None:
            self.is_single = True
        else:
            self.last = int(sequence)
            stored = block[:start] + b"\r\n\r\n" if start > len(VERSION) else b""
            place = self._name, sequence, timestamp, pending
            self.messages.append(Message(str(subject, "utf-8", "replace"), reply.data, "", stored, place))

    def _end(self, block: bytes) -> None:
        self.status = parse_status(block)
        self.pending = _parse_number(block, "Nats-Num-Pending")
        last = _parse_number(block, "Nats-Last-Sequence")
        self.has_gap = self.has_gap or (last > 0 and last != self.last)


def _parse_number(block: bytes, name: str) -> int:
    text = find_header(block, name)
    return int(text) if text.isdigit() else 0
