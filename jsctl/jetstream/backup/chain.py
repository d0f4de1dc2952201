"""Chains: a backup, and links after it that hold what was new (see `files`), read as one snapshot.

A snapshot of a chain has the state and the consumers of its last link. Its messages are those of all parts
that are not in the last link's list of sequences without a message: only that list counts, as it covers all
sequences up to those of the last link itself. Nothing is held but a frame of one part at a time.
"""

import hashlib
import io
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from typing import IO, Any, cast

from jsctl.errors import BadInput
from jsctl.jetstream.backup.archive import (
    ArchiveReader,
    BrokenArchive,
    Consumer,
    Item,
    Message,
    State,
    encode_state,
)
from jsctl.jetstream.backup.archive_file import ArchiveWriter, read_blocks
from jsctl.jetstream.backup.events import Advance
from jsctl.jetstream.backup.files import DAMAGES, GONE, META, UNUSABLE, Backup

_READ_SIZE = 1 << 20
_NO_RANGE = (1 << 64, 1 << 64)
_MAX_LINE = 64  #: bytes of a line of GONE: two numbers of at most 20 digits


@contextmanager
def opening_snapshot(backup: Backup) -> Iterator[IO[bytes]]:
    """Yield a backup's snapshot as a file, at its beginning; that of a chain as if a server had sent it.

    Reading raises BadInput for a part of a chain that is damaged, and what is raised for a damaged file.
    """
    if not backup.parents:
        with backup.open_file(backup.data_name) as file:
            yield file
        return
    with closing(_compose(backup)) as pieces:
        yield cast(IO[bytes], io.BufferedReader(_Pieces(pieces), _READ_SIZE))


@contextmanager
def naming_damage(backup: Backup, reader: ArchiveReader | None = None) -> Iterator[None]:
    """Turn what is wrong with a backup's snapshot, which the block reads, into BadInput. reader: has the last
    intact entry."""
    try:
        yield
    except DAMAGES as error:
        if reader is None:
            raise BadInput(f"the backup in {backup.path} is damaged: {error}", UNUSABLE) from None
        good = f"last good entry: {reader.last_good}"
        if not reader.entries:
            name = "is not a NATS Server 2.15 stream backup"
            raise BadInput(f"{backup.path} {name}: {backup.data_name}: {error} ({good})", UNUSABLE) from None
        raise BadInput(f"the backup in {backup.path} is damaged: {error} ({good})", UNUSABLE) from None


def read_entries(backup: Backup) -> Generator[Item]:
    """Yield the entries of a backup's snapshot. Raises BadInput."""
    reader = ArchiveReader(yields="messages")
    with naming_damage(backup, reader), opening_snapshot(backup) as file:
        for _, block in read_blocks(file):
            yield from reader.feed(block)
        reader.finish()


def validate_part(part: Backup, advance: Advance) -> None:
    """Read one backup: every entry, and its digests. Raises BadInput. See `verify_part`."""
    part.check_configuration()
    deque(_read_part(part, advance), maxlen=0)
    if GONE in part.digests:
        deque(_read_gone(part), maxlen=0)


def verify_part(part: Backup, advance: Advance) -> None:
    """Check the files of one backup by the digests of its manifest. Raises BadInput.

    advance: called with the number of bytes read of its snapshot.
    """
    part.check_configuration()
    for name in part.digests:
        if name == META:
            continue
        digest, size = hashlib.sha256(), 0
        with naming_damage(part), part.open_file(name) as file:
            while block := file.read(_READ_SIZE):
                digest.update(block)
                size += len(block)
                if name == part.data_name:
                    advance(len(block))
        check_digest(part, name, digest, size)


def check_digest(backup: Backup, name: str, digest: Any, size: int) -> None:
    """Raise BadInput if a file of a backup is not the one that was saved. digest, size: those of the file."""
    saved = backup.digests.get(name, {})
    if size < int(saved.get("bytes", -1)):
        raise BadInput(
            f"the backup in {backup.path} is truncated: it has {size:,} of {saved['bytes']:,} bytes", UNUSABLE
        )
    if digest.hexdigest() != saved.get("sha256"):
        raise BadInput(f"the backup in {backup.path} was changed: its digest differs", UNUSABLE)


class _Pieces(io.RawIOBase):
    """A file of pieces that are made while it is read."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def _compose(chain: Backup) -> Generator[bytes]:
    """Yield the bytes of a chain's snapshot."""
    pieces = deque[bytes]()
    with ArchiveWriter(pieces.append) as writer:
        for entry in _list_entries(chain):
            writer.add(entry)
            while pieces:
                yield pieces.popleft()
        writer.finish()
    yield from pieces


def _list_entries(chain: Backup) -> Generator[bytes]:
    """Yield the entries of a chain's snapshot, except its end."""
    counts, messages, first = chain.manifest["chain"], 0, 0
    with closing(_read_part(chain)) as items:
        for item in items:
            if isinstance(item, State):
                first = int(item.state.get("first_seq", 0))
                state = {**item.state, "messages": counts["messages"], "bytes": counts["bytes"]}
                yield encode_state(state, item.time)
            elif isinstance(item, Consumer):
                yield item.raw
            else:
                break
    with closing(_read_gone(chain)) as ranges:
        start, stop = next(ranges, _NO_RANGE)
        for part in chain.parts:
            if part is not chain and GONE in part.digests:
                deque(_read_gone(part), maxlen=0)  # only its digest matters
            for item in _read_part(part):
                if not isinstance(item, Message) or item.sequence < first:
                    continue
                while stop < item.sequence:
                    start, stop = next(ranges, _NO_RANGE)
                if item.sequence < start:
                    messages += 1
                    yield item.raw
        deque(ranges, maxlen=0)  # to its end, where its digest is checked
    if messages != counts["messages"]:
        raise BadInput(
            f"the chain of {chain.path} has {messages:,} of {counts['messages']:,} messages", UNUSABLE
        )


def _read_part(part: Backup, advance: Advance = lambda size: None) -> Generator[Item]:
    """Yield the entries of one backup, and check its digest at the end. Raises BadInput."""
    reader, digest, size = ArchiveReader(yields="messages"), hashlib.sha256(), 0

    def count(read: int) -> None:
        nonlocal size
        size += read
        advance(read)

    with naming_damage(part, reader), part.open_file(part.data_name) as file:
        for _, block in read_blocks(file, count, digest):
            yield from reader.feed(block)
        reader.finish()
    check_digest(part, part.data_name, digest, size)


def _read_gone(link: Backup) -> Generator[tuple[int, int]]:
    """Yield the ranges of sequences, both inclusive, that hold no message. Raises BadInput."""
    digest, size, last = hashlib.sha256(), 0, 0
    with naming_damage(link), link.open_file(GONE) as file:
        while line := file.readline(_MAX_LINE):
            digest.update(line)
            size += len(line)
            numbers = [int(text) for text in line.split() if text.isdigit()]
            if len(numbers) != 2 or not last < numbers[0] <= numbers[1]:
                raise BrokenArchive(f"a line of {GONE} is not two numbers above those before it")
            start, stop = numbers
            last = stop
            yield start, stop
    check_digest(link, GONE, digest, size)
