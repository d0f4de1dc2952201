"""The archive in a snapshot of nats-server 2.15 or later (ADR-63; nats-server: server/archive,
stream_backup.go): its state, then its consumers, then its messages by ascending sequence, then its end.

The reader takes what S2 frames hold, piece by piece, and yields entries; it reads no files. `entries.wat`
counts and filters messages, and has the layout of the state that it shares with this module.
"""

import json
import struct
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from jsctl.base.json_text import parse_json
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.machine import Machine
from jsctl.jetstream.backup.s2 import BLOCK_SIZE, encode_uvarint

MAGIC = b"NATSARC1"
STATE_NAME = "state.json"
CONSUMERS = "consumers/"

MAX_SEQUENCE = (1 << 64) - 1
MIN_TIME, MAX_TIME = -(1 << 63), (1 << 63) - 1
"""The times, in ns since the epoch, that an entry can have."""

_MAX_ENTRY = 256 << 20
"""Maximum number of bytes of header block and payload; a server takes at most 64 MB."""
_MAX_NAME = 1 << 20
_ROWS_SIZE = 1 << 20

_SETTINGS = struct.Struct("<4Q2q2Iq2I")
_TOTALS = struct.Struct("<11Q2qQ4I2q")
_MESSAGE_ROW = struct.Struct("<5I4xQq")
_SUBJECTS, _LAST_NAME = 72, 184  #: addresses in the state
_REASONS = {
    4: "a number has more than 64 bits",
    5: f"an entry is too large: at most {_MAX_ENTRY:,} bytes are valid",
}


class BrokenArchive(ValueError):
    """Data that are not an archive, or a damaged one."""


class Selection(NamedTuple):
    """The messages that are kept: those for which all of this holds. Times are in ns, and inclusive.

    old_before: the time before which kept messages are counted as old.
    """

    first_sequence: int = 0
    last_sequence: int = MAX_SEQUENCE
    from_time: int = MIN_TIME
    to_time: int = MAX_TIME
    subjects: Sequence[str] = ()
    excluded_subjects: Sequence[str] = ()
    old_before: int = MIN_TIME


class Totals(NamedTuple):
    """The messages until now. bytes: as a stream's state counts them in a file store.

    first_sequence, first_kept: 0 without messages. Times are in ns since 1970.
    """

    subjects: int
    kept_subjects: int
    messages: int
    kept: int
    dropped_by_sequence: int
    dropped_by_time: int
    dropped_by_subject: int
    bytes: int
    kept_bytes: int
    kept_old: int
    last_sequence: int
    first_sequence: int
    first_time: int
    last_time: int
    first_kept: int
    first_kept_time: int
    last_kept_time: int


class State(NamedTuple):
    """The first entry: the stream's state, as STREAM.INFO has it. time: when the snapshot was made, in ns."""

    time: int
    state: Json


class Consumer(NamedTuple):
    """A consumer. time: of its entry, ns since 1970. content: its configuration and state. raw: the entry."""

    name: str
    time: int
    content: Json
    raw: bytes


class Message(NamedTuple):
    """A kept message. time: ns since 1970. raw: the whole entry."""

    subject: bytes
    sequence: int
    time: int
    header_block: bytes
    data: bytes
    raw: bytes


class Range(NamedTuple):
    """Entries of kept messages next to each other, as offsets in the archive."""

    start: int
    stop: int


class End(NamedTuple):
    """The last entry."""


Item = State | Consumer | Message | Range | End

Yields = Literal["", "ranges", "messages"]
"""What a reader yields of messages: nothing, where they lie, or themselves."""


class _Header(NamedTuple):
    name: str
    time: int
    sequence: int
    header_size: int
    size: int  #: of header block and payload
    content: int  #: where these begin


class ArchiveReader:
    """An archive that is fed piece by piece, as entries. It holds one entry, and some bytes for each
    subject."""

    def __init__(self, selection: Selection | None = None, yields: Yields = "") -> None:
        selection = selection or Selection()
        self._yields = yields
        self._phase: Literal["magic", "state", "consumers", "messages", "end"] = "magic"
        self._entries = 0  #: except messages
        self._last_good = "no entries"
        self._expected_consumers = self._consumers = 0
        self._machine = Machine("entries")
        self._capacity = 2 * BLOCK_SIZE
        self._window = self._machine.allocate(self._capacity)
        self._from = self._to = self._window  #: what is not read yet, as addresses
        self._base = -self._window  #: offset of an address in the archive, minus the address
        self._rows = self._machine.allocate(_ROWS_SIZE)
        self._slots = 1 << 10
        table = self._machine.allocate(8 * self._slots)
        _SETTINGS.pack_into(
            self._machine.view,
            0,
            *(0, _MAX_ENTRY, selection.first_sequence, selection.last_sequence),
            *(selection.from_time, selection.to_time),
            *map(self._store_patterns, (selection.subjects, selection.excluded_subjects)),
            *(selection.old_before, table, self._slots - 1),
        )

    @property
    def totals(self) -> Totals:
        """What was counted until now."""
        numbers = _TOTALS.unpack_from(self._machine.view, _SUBJECTS)
        last = self._last_sequence if numbers[2] else 0
        return Totals._make((*numbers[:10], last, *numbers[10:14], *numbers[18:]))

    @property
    def entries(self) -> int:
        """Number of entries until now."""
        return self._entries + self.totals.messages

    @property
    def position(self) -> int:
        """Offset in the archive of what is not read yet."""
        return self._from + self._base

    @property
    def last_good(self) -> str:
        """The last intact entry, in words."""
        return self._last_good

    def feed(self, data: bytes | memoryview) -> Iterator[Item]:
        """Yield the entries that are now complete; use each before the next. Raises BrokenArchive."""
        self._append(data)
        while self._phase != "end":
            if self._phase == "messages":
                yield from self._walk()
            header = self._read_header()
            if header is None:
                return
            yield self._read_entry(header)
        if self._from != self._to:
            raise BrokenArchive("there is data after its end")

    def finish(self) -> None:
        """Raise BrokenArchive unless the archive is complete."""
        if self._phase != "end":
            raise BrokenArchive("it ends before its end entry")

    def _append(self, data: bytes | memoryview) -> None:
        if self._to + len(data) > self._window + self._capacity:
            rest = self._to - self._from
            old = self._from
            if rest + len(data) > self._capacity // 2:
                self._capacity = 2 * (rest + len(data))
                self._window = self._machine.allocate(self._capacity)
            view = self._machine.view
            view[self._window : self._window + rest] = view[old : old + rest]
            self._from, self._to = self._window, self._window + rest
            self._base += old - self._window
        self._machine.view[self._to : self._to + len(data)] = data
        self._to += len(data)

    def _store_patterns(self, patterns: Sequence[str]) -> int:
        if not patterns:
            return 0
        sized = [len(pattern).to_bytes(2, "little") + pattern for pattern in map(str.encode, patterns)]
        listed = b"".join(sized) + bytes(2)
        address = self._machine.allocate(len(listed))
        self._machine.view[address : address + len(listed)] = listed
        return address

    @property
    def _last_sequence(self) -> int:
        return int.from_bytes(self._machine.view[:8], "little")

    def _walk(self) -> Iterator[Item]:
        """Yield the kept ones of the messages that are complete, up to an entry that is not a message."""
        mode = ("", "ranges", "messages").index(self._yields)
        while True:
            stop = self._rows + _ROWS_SIZE
            self._from = self._machine.call("walk", self._from, self._to, self._rows, stop, mode)
            name, name_size, reason, rows = _TOTALS.unpack_from(self._machine.view, _SUBJECTS)[14:18]
            if name:
                subject = bytes(self._machine.view[name : name + name_size]).decode(errors="replace")
                self._last_good = f"entry #{self.entries}, message {subject}, sequence {self._last_sequence}"
                self._machine.view[_LAST_NAME : _LAST_NAME + 4] = bytes(4)  # the name may be moved
            if self._yields == "ranges":
                for start, end in struct.iter_unpack("<2I", self._machine.view[self._rows :][: 8 * rows]):
                    yield Range(start + self._base, end + self._base)
            elif self._yields == "messages":
                yield from self._read_messages(rows)
            if reason in (0, 1):
                return
            if reason == 3:
                self._slots *= 4
                table = self._machine.allocate(8 * self._slots)
                self._machine.call("grow_table", table, self._slots - 1)
            elif reason == 6:
                raise BrokenArchive(f"a message does not come after sequence {self._last_sequence}")
            elif reason in _REASONS:
                raise BrokenArchive(_REASONS[reason])

    def _read_messages(self, rows: int) -> Iterator[Message]:
        view = self._machine.view
        table = bytes(view[self._rows : self._rows + rows * _MESSAGE_ROW.size])
        for start, name, name_size, header_size, size, sequence, time in _MESSAGE_ROW.iter_unpack(table):
            content = name + name_size - start
            raw = bytes(view[start : start + content + header_size + size])
            yield Message(
                raw[name - start : content],
                sequence,
                time,
                raw[content : content + header_size],
                raw[content + header_size :],
                raw,
            )

    def _read_header(self) -> _Header | None:
        """Return the numbers and the name of the next entry, None while it is not complete."""
        view = self._machine.view
        if self._phase == "magic":
            if self._to - self._from < len(MAGIC):
                return None
            if view[self._from : self._from + len(MAGIC)] != MAGIC:
                raise BrokenArchive(f"it does not start with {MAGIC.decode()}")
            self._from += len(MAGIC)
            self._phase = "state"
        numbers, at = [], self._from
        for _ in range(5):
            number = shift = 0
            while True:
                if at >= self._to:
                    return None
                byte = view[at]
                number |= (byte & 0x7F) << shift
                at += 1
                shift += 7
                if byte < 0x80:
                    break
                if shift > 63:
                    raise BrokenArchive(_REASONS[4])
            numbers.append(number)
        name_size, time, sequence, header_size, payload_size = numbers
        size = header_size + payload_size
        if name_size > _MAX_NAME or size > _MAX_ENTRY:
            raise BrokenArchive(_REASONS[5])
        if at + name_size + size > self._to:
            return None
        name = bytes(view[at : at + name_size]).decode(errors="replace")
        return _Header(name, time >> 1 ^ -(time & 1), sequence, header_size, size, at + name_size)

    def _read_entry(self, header: _Header) -> Item:
        """Read an entry that is not a message, and go on behind it."""
        stop = header.content + header.size
        data = bytes(self._machine.view[header.content : stop])
        item = self._check_entry(header, data, bytes(self._machine.view[self._from : stop]))
        self._from = stop
        self._entries += 1
        return item

    def _check_entry(self, header: _Header, data: bytes, raw: bytes) -> Item:
        number = self.entries + 1
        if self._phase == "state":
            if header.name != STATE_NAME or header.sequence:
                raise BrokenArchive(f"it has {header.name!r} in place of {STATE_NAME}")
            state = _parse_object(data, STATE_NAME)
            self._expected_consumers = _check_state(state)
            first = int(state.get("first_seq", 0))
            self._machine.view[:8] = ((first - 1) & MAX_SEQUENCE).to_bytes(8, "little")
            self._last_good = f"entry #{number}, {STATE_NAME}"
            self._phase = "consumers" if self._expected_consumers else "messages"
            return State(header.time, state)
        if self._phase == "consumers":
            name = header.name.removeprefix(CONSUMERS)
            if name == header.name or header.sequence:
                place = f"{self._consumers + 1:,} of {self._expected_consumers:,}"
                raise BrokenArchive(f"it has {header.name!r} in place of consumer {place}")
            content = _parse_object(data, f"consumer {name!r}")
            if not all(isinstance(content.get(key), dict) for key in ("config", "state")):
                raise BrokenArchive(f"consumer {name!r} lacks its configuration or its state")
            self._consumers += 1
            self._last_good = f"entry #{number}, consumer {name}"
            if self._consumers == self._expected_consumers:
                self._phase = "messages"
            return Consumer(name, header.time, content, raw)
        if header.name or header.time or header.size:
            raise BrokenArchive(f"it has {header.name!r} in place of a message")
        self._last_good = f"entry #{number}, the end"
        self._phase = "end"
        return End()


def _parse_object(data: bytes, label: str) -> Json:
    try:
        content = parse_json(data)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise BrokenArchive(f"{label} is not a JSON object")
    return content


def _check_state(state: Json) -> int:
    """Return the number of consumers of a state. Raises BrokenArchive where a server does (stream_backup.go:
    RestoreStreamV2)."""
    keys = ("messages", "first_seq", "last_seq", "consumer_count", "bytes")
    messages, first, last, consumers, size = (state.get(key, 0) for key in keys)
    for number in (messages, first, last, consumers, size):
        if type(number) is not int or not 0 <= number <= MAX_SEQUENCE:
            raise BrokenArchive(f"{STATE_NAME} has a number that is not valid")
    if messages > max(0, last - first + 1) or first > last + 1 or (not first and last):
        raise BrokenArchive(f"{STATE_NAME} has more messages than sequences")
    return int(consumers)


def encode_entry(name: bytes, time: int, sequence: int, header_block: bytes, data: bytes) -> bytes:
    """Return an entry: lengths and numbers, then name, header block and data. time: ns since the epoch."""
    zigzag = time * 2 if time >= 0 else -time * 2 - 1
    sizes = _encode_length(len(header_block)), _encode_length(len(data))
    numbers = (_encode_length(len(name)), encode_uvarint(zigzag), encode_uvarint(sequence), *sizes)
    return b"".join((*numbers, name, header_block, data))


def encode_state(state: Json, time: int = 0) -> bytes:
    """Return the beginning of an archive with a stream's state, as in STREAM.INFO. time: ns since 1970."""
    return MAGIC + encode_entry(STATE_NAME.encode(), time, 0, b"", json.dumps(state).encode())


def encode_consumer(consumer: Consumer) -> bytes:
    """Return the entry of a consumer."""
    content = json.dumps(consumer.content, separators=(",", ":")).encode()
    return encode_entry((CONSUMERS + consumer.name).encode(), consumer.time, 0, b"", content)


def compute_stored_size(subject: bytes, header_block: bytes, data: bytes) -> int:
    """Return what a message takes in a file store (nats-server: fileStoreMsgSizeRaw)."""
    return len(subject) + len(header_block) + len(data) + (34 if header_block else 30)


_encode_length = lru_cache(4096)(encode_uvarint)  #: a stream has many messages of few sizes
