"""Reading a whole backup: what its archive holds, and whether it is intact."""

import hashlib
from collections import Counter
from typing import NamedTuple

from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.archive import MAGIC, ArchiveReader, Consumer, Message, State, Totals
from jsctl.jetstream.backup.archive_file import read_blocks
from jsctl.jetstream.backup.chain import check_digest, naming_damage, opening_snapshot, verify_part
from jsctl.jetstream.backup.events import Advance
from jsctl.jetstream.backup.files import UNUSABLE, Backup, find_snapshot_fault
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
    for part in backup.parts:
        part.check_configuration()
    reader = ArchiveReader(yields="messages" if list_subjects else "")
    state: Json = {}
    consumers: list[str] = []
    subjects = Counter[bytes]()
    digest = hashlib.sha256() if backup.digests and not backup.parents else None
    with naming_damage(backup, reader), opening_snapshot(backup) as file:
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
        check_digest(backup, backup.data_name, digest, backup.size)
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
        for part in backup.parts:
            verify_part(part, advance)
        return
    scanner, is_tar = FrameScanner(), False
    with naming_damage(backup), backup.open_file(backup.data_name) as file:
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
