"""Reading a whole backup: what its archive holds, and whether it is intact."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.archive import MAGIC, ArchiveReader, Consumer, Message, State, Totals
from jsctl.jetstream.backup.archive_file import read_blocks
from jsctl.jetstream.backup.events import Advance
from jsctl.jetstream.backup.files import DAMAGES, UNUSABLE, Backup, find_snapshot_fault
from jsctl.jetstream.backup.s2 import FrameScanner

_READ_SIZE = 1 << 20


class Scan(NamedTuple):
    """What an archive holds. state: as its first entry has it. subjects: messages by subject, if asked
    for."""

    state: Json
    consumers: list[str]
    totals: Totals
    entries: int
    subjects: dict[str, int]


def read_backup(backup: Backup, advance: Advance = lambda size: None, *, list_subjects: bool = False) -> Scan:
    """Read a backup of a server of 2.15 or later: every entry, every checksum, and its digests, if it has
    any.

    advance: called with the number of bytes read. Blocks: call it in a thread. Raises BadInput with the last
    intact entry.
    """
    backup.check_configuration()
    reader = ArchiveReader(yields="messages" if list_subjects else "")
    state: Json = {}
    consumers: list[str] = []
    subjects = Counter[bytes]()
    digest = hashlib.sha256() if backup.digests else None
    with naming_damage(backup, reader), backup.open_data() as file:
        for _, block in read_blocks(file, advance, digest):
            for item in reader.feed(block):
                match item:
                    case Message(subject):
                        subjects[subject] += 1
                    case State():
                        state = item.state
                    case Consumer(name):
                        consumers.append(name)
        reader.finish()
    if digest:
        _check_digest(backup, digest, backup.size)
    named = {subject.decode(errors="replace"): count for subject, count in subjects.items()}
    return Scan(state, consumers, reader.totals, reader.entries, named)


def verify_backup(backup: Backup, advance: Advance = lambda size: None) -> None:
    """Check all of a backup before it is restored: by its digests; without them by its entries, or of a
    server before 2.15 whether the snapshot is complete.

    advance: called with the number of bytes read. Blocks: call it in a thread. Raises BadInput.
    """
    if not backup.state:
        raise BadInput(f"the configuration of the backup in {backup.path} has no state", UNUSABLE)
    if backup.digests:
        backup.check_configuration()
        digest, size = hashlib.sha256(), 0
        with naming_damage(backup), backup.open_data() as file:
            while block := file.read(_READ_SIZE):
                digest.update(block)
                size += len(block)
                advance(len(block))
        _check_digest(backup, digest, size)
        return
    scanner, is_tar = FrameScanner(), False
    with naming_damage(backup), backup.open_data() as file:
        while block := file.read(_READ_SIZE):
            scanner.feed(block)
            if scanner.unpacked and not is_tar:
                if scanner.starts_with(MAGIC):
                    break
                is_tar = True
            advance(len(block))
        else:
            if fault := find_snapshot_fault(scanner):
                raise ValueError(fault)
            return
    read_backup(backup, advance)


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


def _check_digest(backup: Backup, digest: Any, size: int) -> None:
    saved = backup.digests.get(backup.data_name, {})
    if size < int(saved.get("bytes", -1)):
        raise BadInput(
            f"the backup in {backup.path} is truncated: it has {size:,} of {saved['bytes']:,} bytes", UNUSABLE
        )
    if digest.hexdigest() != saved.get("sha256"):
        raise BadInput(f"the backup in {backup.path} was changed: its digest differs", UNUSABLE)
