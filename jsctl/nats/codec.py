"""The client protocol of NATS as bytes, without a socket: frames to send, frames read from a buffer."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from jsctl.errors import BadInput, Unreachable

BURST = 1 << 16
"""Bytes that are gathered before a burst of frames is written."""

MSG, HMSG = ord("M"), ord("H")
"""The first byte of the frames that carry a message."""


def encode_text(text: str) -> bytes:
    """Encode subjects or a header. Raises BadInput for bytes of the command line that are not UTF-8."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        shown = text.encode(errors="backslashreplace").decode()
        raise BadInput(f"{shown} is not valid UTF-8") from None


def encode_publish(subject: str, data: bytes, reply: str = "", header_block: bytes = b"") -> bytes:
    """Encode PUB, or HPUB if there are headers. The subjects must have been validated before."""
    subjects = encode_text(f"{subject} {reply}" if reply else subject)
    if header_block:
        head_size = len(header_block)
        size = head_size + len(data)
        return b"HPUB %b %d %d\r\n%b%b\r\n" % (subjects, head_size, size, header_block, data)
    return b"PUB %b %d\r\n%b\r\n" % (subjects, len(data), data)


_SMALL = 8 << 10


def publish_parts(subject: str, data: bytes, reply: str, header_block: bytes) -> tuple[bytes, ...]:
    """Encode as `encode_publish`, in parts that the caller joins: large data is then copied once."""
    if len(data) < _SMALL:
        return (encode_publish(subject, data, reply, header_block),)
    subjects = encode_text(f"{subject} {reply}" if reply else subject)
    size = len(header_block) + len(data)
    if header_block:
        return b"HPUB %b %d %d\r\n%b" % (subjects, len(header_block), size, header_block), data, b"\r\n"
    return b"PUB %b %d\r\n" % (subjects, size), data, b"\r\n"


Frame = tuple[int, bytes, bytes, bytes, bytes, bytes]
"""Where the frame ends in its buffer, then the subscription id, subject, reply subject, header block and data
of a message. A frame without a message has an empty subscription id, and its line as data."""

MAX_LINE = 64 << 10
"""Maximum number of bytes of a frame's line. Servers accept 4 KiB by default; their own INFO is longer when
it lists the addresses of a large cluster."""

MAX_PAYLOAD = 64 << 20
"""Bytes: no server has a larger max_payload (nats-server: const.go)."""

ANSWER_ROOM = 32 << 20
"""Bytes by which a message may be larger than the max_payload that the server announces.

max_payload limits what clients publish. A stream may hold larger messages from before it was lowered, the
server adds headers, and its own answers have no limit: one lists up to 100,000 subjects of a stream (330
bytes each fit here), or all connections. tests/nats/test_largest.py receives such messages from a real
server."""


def compute_message_limit(max_payload: int) -> int:
    """Return the size limit of a message in bytes, with headers, for the `max_payload` of a server's INFO."""
    return min(max_payload, MAX_PAYLOAD) + ANSWER_ROOM


class ProtocolError(Unreachable):
    """A violation of the NATS protocol by the server: nothing that follows can be trusted."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"the server breaks the NATS protocol: {problem}")


_LARGE = 32 << 10
"""Bytes of a message above which copying it costs more than parsing its line twice."""

_UNKNOWN_END: Frame = (1 << 62, b"", b"", b"", b"", b"")


def read_frame(buffer: bytes, at: int, size: int, largest: int = MAX_PAYLOAD) -> Frame:
    """Read the frame that starts at `at`, from the first `size` bytes of a buffer.

    largest: maximum number of bytes of a message (see compute_message_limit).

    A frame that ends beyond `size` is not complete; then only its end is valid. The parts of a
    bytearray are bytearrays. Raises ProtocolError.
    """
    line_end = buffer.find(b"\r\n", at, size)
    if line_end < 0:
        check_line(size - at)
        return _UNKNOWN_END
    check_line(line_end - at)
    kind = buffer[at]
    if kind != MSG and kind != HMSG:
        return line_end + 2, b"", b"", b"", b"", buffer[at : line_end + 2]
    words = buffer[at:line_end].split()
    start = line_end + 2
    header_size, total = parse_sizes(words, largest)
    stop = start + total
    if stop + 2 > size:
        return stop + 2, b"", b"", b"", b"", b""
    check_end(buffer[stop : stop + 2])
    if kind == MSG:
        reply = words[3] if len(words) == 5 else b""
        return stop + 2, words[2], words[1], reply, b"", buffer[start:stop]
    reply = words[3] if len(words) == 6 else b""
    middle = start + header_size
    return stop + 2, words[2], words[1], reply, buffer[start:middle], buffer[middle:stop]


def parse_sizes(words: list[bytes], largest: int) -> tuple[int, int]:
    """Parse the sizes of header block and message in the line of a MSG or HMSG. Raises ProtocolError."""
    name = bytes(words[0])
    numbers = words[-2:] if name == b"HMSG" else words[-1:]
    if name not in (b"MSG", b"HMSG") or not 3 <= len(words) - len(numbers) <= 4:
        raise ProtocolError(f"{_quote(b' '.join(words))} is not the line of a message")
    if not all(number.isdigit() and len(number) < 10 for number in numbers):
        raise ProtocolError(f"{_quote(b' '.join(numbers))} is not the size of a message")
    header_size, total = int(numbers[0]) if len(numbers) == 2 else 0, int(numbers[-1])
    if header_size > total:
        raise ProtocolError(f"a message of {total:,} bytes with {header_size:,} bytes of headers")
    if total > largest:
        raise ProtocolError(f"a message of {total:,} bytes; at most {largest:,} are possible")
    return header_size, total


def check_line(length: int) -> None:
    """Raise ProtocolError for a line that is too long."""
    if length > MAX_LINE:
        raise ProtocolError(f"a line of more than {MAX_LINE:,} bytes")


def check_end(end: bytes) -> None:
    """Raise ProtocolError when a message does not end with a line end."""
    if end != b"\r\n":
        raise ProtocolError("a message does not end where it should")


def _quote(text: bytes) -> str:
    return repr(bytes(text[:40]).decode(errors="replace"))


class BulkReader(Protocol):
    """A reader of the messages of one subscription that follow each other, without a call for each."""

    def run(self, data: bytes, at: int, sid: bytes, largest: int) -> int:
        """Read the complete messages from `at` on, up to one that is to be handled as usual. Returns where
        they end."""


class Tally:
    """A counter of a subscription's messages without headers, for readers that need no more than their
    number: three times as fast as making a Message of each.

    take: called with the number of messages in a row, their total size in bytes, and their reply subjects.
    limit: number of messages after which it is called. remaining: how many more messages are counted; those
    after them are frames as usual.
    """

    def __init__(
        self, take: Callable[[int, int, list[bytes]], None], *, limit: int = 1 << 62, remaining: int = 1 << 62
    ) -> None:
        self.remaining = remaining
        self._take = take
        self._burst_limit = limit

    def run(self, data: bytes, at: int, sid: bytes, largest: int) -> int:
        """Count the complete messages from `at` on. Returns where they end."""
        find, size = data.find, len(data)
        count, total, replies = 0, 0, list[bytes]()
        limit = min(self.remaining, self._burst_limit)
        while at < size and data[at] == MSG and count < limit:
            line_end = find(b"\r\n", at)
            words = data[at:line_end].split() if line_end > 0 else []
            if not 4 <= len(words) <= 5 or words[2] != sid or words[0] != b"MSG" or not words[-1].isdigit():
                break
            length = int(words[-1])
            stop = line_end + 2 + length
            if length > largest or data[stop : stop + 2] != b"\r\n":
                break
            count += 1
            total += length
            if len(words) == 5:
                replies.append(words[3])
            at = stop + 2
        if count:
            self.remaining -= count
            self._take(count, total, replies)
        return at


class FrameParser:
    """A parser that cuts what a connection receives into frames, however it was split into chunks.

    largest: maximum number of bytes of a message. bulk_readers: by subscription id.
    """

    def __init__(self, largest: int = MAX_PAYLOAD) -> None:
        self.largest = largest
        self.bulk_readers: dict[bytes, BulkReader] = {}
        self._chunks: list[bytes] = []
        self._size = 0
        self._needed = 0  #: bytes that must be there before the next frame is complete
        self._resets = 0

    @property
    def is_empty(self) -> bool:
        """Whether no part of a frame is waiting for more."""
        return not self._chunks

    def reset(self) -> None:
        """Discard what is unparsed, as a new connection begins."""
        self._chunks, self._size, self._needed = [], 0, 0
        self._resets += 1

    def take_rest(self) -> bytes:
        """Return what is unparsed, for another parser."""
        rest = b"".join(self._chunks)
        self.reset()
        return rest

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """Add a chunk, and iterate over the frames that are complete now.

        Raises ProtocolError; ValueError for a size that is not a number.
        """
        self._chunks.append(chunk)
        self._size += len(chunk)
        if self._size < self._needed:
            return  # the chunks of a large message are joined once, not each time
        resets = self._resets
        if frame := self._join_large_frame():
            data, at = chunk, frame[0]
            self._chunks = []
            yield frame
        else:
            data, at = b"".join(self._chunks) if len(self._chunks) > 1 else chunk, 0
            self._chunks = []  # so that a large message is not in memory twice
        size = len(data)
        end, find, largest, bulk_readers = 0, data.find, self.largest, self.bulk_readers
        while at < size:
            kind = data[at]
            if kind != MSG and kind != HMSG:
                frame = read_frame(data, at, size, largest)
                end = frame[0]
                if end > size:
                    break
                at = end
                yield frame
                continue
            # As `read_frame`, for messages: the call would cost a third of the reading.
            line_end = find(b"\r\n", at)
            if line_end < 0:
                check_line(size - at)
                end = _UNKNOWN_END[0]
                break
            words = data[at:line_end].split()
            count, total = len(words), int(words[-1])
            if kind == MSG:
                name, limit, header_size = b"MSG", 5, 0
            else:
                name, limit, header_size = b"HMSG", 6, int(words[-2])
            if bulk_readers and count > 2 and (reader := bulk_readers.get(words[2])) is not None:
                begin, at = at, reader.run(data, at, words[2], largest)
                if at > begin:
                    continue
            is_valid = limit - 1 <= count <= limit and 0 <= header_size <= total <= largest
            if words[0] != name or not is_valid:
                parse_sizes(words, largest)
            start = line_end + 2
            middle, stop = start + header_size, start + total
            end = stop + 2
            if end > size:
                break
            if data[stop:end] != b"\r\n":
                check_end(data[stop:end])
            at = end
            reply = words[3] if count == limit else b""
            yield end, words[2], words[1], reply, data[start:middle], data[middle:stop]
        if resets == self._resets:
            incomplete = data[at:]
            self._chunks, self._size = [incomplete] if incomplete else [], len(incomplete)
            self._needed = end - at if at < size and end < _UNKNOWN_END[0] else 0

    def _join_large_frame(self) -> Frame | None:
        """Return the large message that ends in the latest chunk, without joining the bytes after it.

        The end in the frame is its index in that chunk. None for a message that is small, counted by a tally,
        or split elsewhere than in its data.
        """
        chunks, needed = self._chunks, self._needed
        if needed < _LARGE or len(chunks) < 2:
            return None
        first, last = chunks[0], chunks[-1]
        end = needed - (self._size - len(last))
        start = first.index(b"\r\n") + 2
        words = first[: start - 2].split()
        header_size, _ = parse_sizes(words, self.largest)
        middle = start + header_size
        if middle > len(first) or end < 2 or isinstance(self.bulk_readers.get(words[2]), Tally):
            return None
        check_end(last[end - 2 : end])
        with memoryview(first) as beginning, memoryview(last) as ending:
            data = b"".join((beginning[middle:], *chunks[1:-1], ending[: end - 2]))
        reply = words[3] if len(words) == (6 if words[0] == b"HMSG" else 5) else b""
        return end, words[2], words[1], reply, first[start:middle], data


class ServerError(NamedTuple):
    """An error that the server sent as -ERR. text: in its own words."""

    text: str

    @property
    def is_authentication(self) -> bool:
        """Whether the login is refused, or no longer valid."""
        return any(word in self.text.lower() for word in ("authorization", "authentication"))

    @property
    def is_limit(self) -> bool:
        """Whether the server or the account has reached its limit of connections."""
        return "connections exceeded" in self.text.lower()

    @property
    def is_stale(self) -> bool:
        """Whether the server has missed answers to its pings; it accepts another connection."""
        return "stale connection" in self.text.lower()

    @property
    def violation(self) -> "Violation | None":
        """The subject and operation of a permissions violation; None for other errors."""
        match = re.match(_VIOLATION, self.text, re.IGNORECASE)
        return Violation(match[1].lower(), match[2]) if match else None


class Violation(NamedTuple):
    """A permissions violation. operation: `publish` or `subscription`."""

    operation: str
    subject: str


# server/client.go: pubPermissionViolation, replySubjectViolation, subPermissionViolation
_VIOLATION = r'Permissions Violation for (Publish|Subscription)(?: with Reply of| to) "([^"]*)"'


def parse_error(line: bytes | str) -> ServerError:
    """Parse a -ERR line, or the text of one in an exception."""
    text = line.decode(errors="replace") if isinstance(line, bytes) else line
    return ServerError(text.strip().removeprefix("-ERR").removeprefix("nats:").strip("' \t\r\n"))


_INFO_KINDS: Mapping[str, type] = {
    **dict.fromkeys(("server_id", "server_name", "version", "domain", "cluster", "nonce", "client_ip"), str),
    **dict.fromkeys(("tls_required", "tls_available", "auth_required", "headers", "jetstream", "ldm"), bool),
    **dict.fromkeys(("max_payload", "client_id", "port", "proto"), int),
    "connect_urls": list,
}
"""The types of the fields that jsctl reads in the INFO of a server."""


def check_info(info: Any) -> None:
    """Raise ProtocolError for an INFO of the wrong shape."""
    if not isinstance(info, dict):
        raise ProtocolError("its INFO is not an object")
    for key, kind in _INFO_KINDS.items():
        value = info.get(key)
        if value is not None and type(value) is not kind:
            raise ProtocolError(f"{key!r} in its INFO is not valid")
    if info.get("max_payload", 1) is None or info.get("max_payload", 1) < 0:
        raise ProtocolError("'max_payload' in its INFO is not valid")
    if not all(isinstance(url, str) for url in info.get("connect_urls") or ()):
        raise ProtocolError("'connect_urls' in its INFO is not valid")
