"""The editor of an archive: it reads one, and writes the messages that stay.

This file is long because an edit counts the same things in each of its three ways through an archive.
"""

import hashlib
import time
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from jsctl import __version__
from jsctl.base.units import format_count, format_exact_duration, format_rfc3339
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.archive import (
    MIN_TIME,
    ArchiveReader,
    Consumer,
    Item,
    Message,
    Range,
    State,
    compute_stored_size,
    encode_consumer,
    encode_entry,
    encode_state,
)
from jsctl.jetstream.backup.archive_file import ArchiveWriter, read_blocks
from jsctl.jetstream.backup.chain import naming_damage, opening_snapshot
from jsctl.jetstream.backup.edit_options import Drop, EditOptions, is_tombstone
from jsctl.jetstream.backup.events import Advance
from jsctl.jetstream.backup.files import Backup
from jsctl.jetstream.backup.obfuscation import Obfuscator
from jsctl.jetstream.backup.s2 import Frame

_SLOT_SIZES = {False: 16, True: 24}
"""Bytes that the state of a subject counts for each message (sequence, size), and with a mark of deletion."""


class Edit(NamedTuple):
    """The outcome of an edit. config, state: those of the result.

    tombstones: markers of deleted keys that a filter of headers or payloads dropped. subject_state: of edits
    that keep some messages of each subject, the subjects, and the bytes held for them. obfuscated: tokens
    with a hash, and payloads that became zeros. key_file: what turns the hashes back; None in a dry run.
    """

    config: Json
    state: Json
    source_messages: int
    source_subjects: int
    kept_subjects: int
    dropped: "dict[Drop, int]"
    consumers_kept: int
    consumers_dropped: int
    tombstones: int
    subject_state: tuple[int, int] | None
    warnings: list[str]
    obfuscated: tuple[int, int] | None
    key_file: Path | None = None


def count_passes(options: EditOptions) -> int:
    """Return how often an edit reads the archive."""
    return 2 if options.is_per_subject and (not options.dry_run or options.obfuscate) else 1


class _Kept:
    """The messages that stay, as they are written. Times are in ns."""

    def __init__(self) -> None:
        self.messages = self.bytes = self.old = 0
        self.first_sequence = self.first_time = self.last_time = 0


class _Slot(NamedTuple):
    """What is known of a message that may stay. is_tombstone: it marks its key as deleted."""

    sequence: int
    time: int
    size: int
    is_tombstone: bool


class Editor:
    """One edit of a backup's archive. obfuscator: None to leave names as they are."""

    def __init__(
        self, backup: Backup, options: EditOptions, obfuscator: Obfuscator | None, advance: Advance
    ) -> None:
        self.obfuscator = obfuscator
        self._backup = backup
        self._options = options
        self._advance = advance
        self._max_age = int(backup.config.get("max_age") or 0)
        self._old_before = time.time_ns() - self._max_age if self._max_age > 0 else MIN_TIME
        self._selection = options.select(self._old_before)
        self._digest = hashlib.sha256()
        self._reader = self._open_reader("")
        self._source_state: Json = {}
        self._dropped = Counter["Drop"]()
        self._kept = _Kept()
        self._kept_subjects = 0
        self._consumers = 0
        self._tombstones = self._padded = 0
        self._subject_state: tuple[int, int] | None = None

    def run(self, write: Callable[[bytes], object] | None) -> None:
        """Read the archive, and write the result; None for a dry run. Raises BadInput for a damaged backup,
        and what `write` raises."""
        if write is None:
            self._run(None)
            return
        with ArchiveWriter(write) as writer:
            self._run(writer)
            writer.finish()

    def _run(self, writer: ArchiveWriter | None) -> None:
        if self._options.is_per_subject:
            self._run_twice(writer)
        elif self._options.keeps_entries:
            self._copy_ranges(writer)
        else:
            self._reader = self._open_reader("messages")
            subjects: set[int] = set()  # their hashes
            for item in self._read(self._reader, self._digest):
                if isinstance(item, Message):
                    if self._passes(item):
                        subjects.add(hash(item.subject))
                        self._write_message(item, writer)
                else:
                    self._write_entry(item, writer)
            self._kept_subjects = len(subjects)

    def _open_reader(self, yields: Any) -> ArchiveReader:
        return ArchiveReader(self._selection, yields)

    def _read(self, reader: ArchiveReader, digest: Any = None) -> Iterator[Item]:
        """Yield all entries. Raises BadInput."""
        with naming_damage(self._backup, reader), opening_snapshot(self._backup) as file:
            for _, block in read_blocks(file, self._advance, digest):
                yield from reader.feed(block)
            reader.finish()

    # -- messages that stay as they are -----------------------------------------------------------

    def _copy_ranges(self, writer: ArchiveWriter | None) -> None:
        """Write ranges of entries as they are; frames that stay as a whole are not even encoded again."""
        reader = self._reader = self._open_reader("ranges" if writer else "")
        blocks, ranges, end = deque[tuple[int, Frame, memoryview]](), deque[Range](), 0
        with naming_damage(self._backup, reader), opening_snapshot(self._backup) as file:
            for frame, block in read_blocks(file, self._advance, self._digest):
                blocks.append((end, frame, block))
                end += len(block)
                for item in reader.feed(block):
                    if not isinstance(item, Range):
                        self._write_entry(item, writer)
                    elif ranges and ranges[-1].stop == item.start:
                        ranges[-1] = Range(ranges[-1].start, item.stop)
                    else:
                        ranges.append(item)
                while blocks and blocks[0][0] + len(blocks[0][2]) <= reader.position:
                    if writer:
                        _copy_block(*blocks[0], ranges, writer)
                    blocks.popleft()
            reader.finish()
        totals = reader.totals
        kept = self._kept
        kept.messages, kept.bytes, kept.old = totals.kept, totals.kept_bytes, totals.kept_old
        kept.first_sequence, kept.first_time = totals.first_kept, totals.first_kept_time
        kept.last_time = totals.last_kept_time
        self._kept_subjects = totals.kept_subjects

    # -- messages that are read -------------------------------------------------------------------

    def _run_twice(self, writer: ArchiveWriter | None) -> None:
        """Find the messages of each subject that stay, then write them."""
        options = self._options
        identity = self._backup.stat_parts()
        slots: dict[bytes, _Slot] = {}
        rings: dict[bytes, deque[_Slot]] = {}
        count = options.last_per_subject or 1
        passed = 0
        self._reader = self._open_reader("messages")
        for item in self._read(self._reader, self._digest):
            if isinstance(item, State):
                self._source_state = item.state
            elif isinstance(item, Consumer):
                self._consumers += 1
            elif isinstance(item, Message) and self._passes(item):
                passed += 1
                size = compute_stored_size(item.subject, item.header_block, item.data)
                slot = _Slot(
                    item.sequence, item.time, size, options.kv_compact and is_tombstone(item.header_block)
                )
                if count == 1:
                    slots[item.subject] = slot
                else:
                    rings.setdefault(item.subject, deque(maxlen=count)).append(slot)
        held = [*([slot] for slot in slots.values()), *rings.values()]
        stay = [[slot for slot in newest if not slot.is_tombstone] for newest in held]
        sequences = array("Q", sorted(slot.sequence for newest in stay for slot in newest))
        size = sum(slot.size for newest in stay for slot in newest)
        self._kept_subjects = sum(map(bool, stay))
        self._dropped["kv_compact" if options.kv_compact else "last_per_subject"] = passed - len(sequences)
        slots_size = sum(map(len, held)) * _SLOT_SIZES[options.kv_compact]
        self._subject_state = len(held), sum(map(len, (*slots, *rings))) + slots_size
        if writer is None and self.obfuscator is None:
            kept = self._kept
            kept.messages, kept.bytes = len(sequences), size
            if ordered := sorted(slot for newest in stay for slot in newest):
                kept.first_sequence, kept.first_time = ordered[0][:2]
                kept.last_time = ordered[-1].time
                kept.old = sum(slot.time < self._old_before for slot in ordered)
            return
        del slots, rings, held, stay
        self._consumers = 0
        if self._backup.stat_parts() != identity:
            raise JsctlError(
                f"the backup in {self._backup.path} was changed during the edit", "edit it again"
            )
        at = 0
        for item in self._read(self._open_reader("messages")):
            if not isinstance(item, Message):
                self._write_entry(item, writer, messages=len(sequences), size=size)
            elif at < len(sequences) and item.sequence == sequences[at]:
                at += 1
                self._write_message(item, writer)
        if self._kept.messages != len(sequences):
            raise JsctlError(
                f"the backup in {self._backup.path} was changed during the edit", "edit it again"
            )

    def _passes(self, message: Message) -> bool:
        drop = self._options.find_drop(message)
        if drop is None:
            return True
        self._dropped[drop] += 1
        self._tombstones += is_tombstone(message.header_block)
        return False

    # -- writing ----------------------------------------------------------------------------------

    def _write_entry(
        self, item: Item, writer: ArchiveWriter | None, *, messages: int = 0, size: int = 0
    ) -> None:
        """Write the state or a consumer. messages, size: of the result, if they are known before."""
        if isinstance(item, State):
            self._source_state = item.state
            state = {
                "messages": messages,
                "bytes": 0 if self.obfuscator else size,
                "first_seq": int(item.state.get("first_seq", 0)),
                "last_seq": int(item.state.get("last_seq", 0)),
                "consumer_count": int(item.state.get("consumer_count", 0)),
            }
            if self._options.renumber:
                state |= {"first_seq": 1, "last_seq": messages, "consumer_count": 0}
            if writer:
                writer.add(encode_state(state, item.time))
        elif isinstance(item, Consumer):
            self._consumers += 1
            if self._options.renumber:
                return
            raw = item.raw
            if self.obfuscator:
                name = self.obfuscator.hash_token(item.name)
                content = self.obfuscator.hash_consumer(item.content)
                raw = encode_consumer(item._replace(name=name, content=content))
            if writer:
                writer.add(raw)

    def _write_message(self, message: Message, writer: ArchiveWriter | None) -> None:
        kept = self._kept
        kept.old += message.time < self._old_before
        kept.messages += 1
        raw = message.raw
        if self.obfuscator or self._options.renumber:
            if self.obfuscator:
                message = self._obfuscate(message, self.obfuscator)
            if self._options.renumber:
                message = message._replace(sequence=kept.messages)
            _, sequence, stamp, header_block, data, _ = message
            raw = encode_entry(message.subject, stamp, sequence, header_block, data)
        if kept.messages == 1:
            kept.first_sequence, kept.first_time = message.sequence, message.time
        kept.last_time = message.time
        kept.bytes += compute_stored_size(message.subject, message.header_block, message.data)
        if writer:
            writer.add(raw)

    def _obfuscate(self, message: Message, obfuscator: Obfuscator) -> Message:
        data = message.data
        if not self._backup.config.get("allow_msg_counter"):  # a restored counter goes on from its value
            self._padded += bool(data)
            data = b"0" * len(data)
        return message._replace(
            subject=obfuscator.hash_message_subject(message.subject),
            header_block=obfuscator.hash_headers(message.header_block),
            data=data,
        )

    # -- outcome ----------------------------------------------------------------------------------

    def build_result(self) -> Edit:
        """Return the outcome, after `run`."""
        totals, options = self._reader.totals, self._options
        by_entry: dict[Drop, int] = {
            "sequence": totals.dropped_by_sequence,
            "time": totals.dropped_by_time,
            "subject": totals.dropped_by_subject,
        }
        config = dict(self._backup.config)
        if options.renumber:
            config.pop("first_seq", None)
        consumers = 0 if options.renumber else self._consumers
        return Edit(
            config=self.obfuscator.hash_config(config) if self.obfuscator else config,
            state=self._build_state(consumers),
            source_messages=totals.messages,
            source_subjects=totals.subjects,
            kept_subjects=self._kept_subjects,
            dropped={**by_entry, **self._dropped},
            consumers_kept=consumers,
            consumers_dropped=self._consumers - consumers,
            tombstones=self._tombstones,
            subject_state=self._subject_state,
            warnings=list(self._list_warnings()),
            obfuscated=(self.obfuscator.tokens, self._padded) if self.obfuscator else None,
        )

    def build_meta(self, edit: Edit) -> Json:
        """Return the content of backup.json, which says from what the result was made."""
        record: Json = {
            "version": f"jsctl {__version__}",
            "options": self._options.list_canonical(),
            "source_digest": f"sha256:{self._digest.hexdigest()}",
        }
        if self.obfuscator:
            record["obfuscated"] = True
        return {"config": edit.config, "state": edit.state, "edit": record}

    def _build_state(self, consumers: int) -> Json:
        """Return the state that the restored stream will have."""
        kept, last = self._kept, int(self._source_state.get("last_seq", 0))
        if self._options.renumber:
            first, last = 1, kept.messages
        elif kept.messages:
            first = kept.first_sequence
        else:
            messages = self._reader.totals.messages
            first = last + 1 if messages else int(self._source_state.get("first_seq", 0))
        state: Json = {"messages": kept.messages, "bytes": kept.bytes, "first_seq": first, "last_seq": last}
        if kept.first_time and kept.last_time:
            state |= {"first_ts": format_rfc3339(kept.first_time), "last_ts": format_rfc3339(kept.last_time)}
        return state | {"consumer_count": consumers}

    def _list_warnings(self) -> Iterator[str]:
        """Yield what the stream's limits will do to the result when it is restored."""
        config, kept = self._backup.config, self._kept
        max_messages, max_bytes, max_per_subject = (
            int(config.get(key) or 0) for key in ("max_msgs", "max_bytes", "max_msgs_per_subject")
        )
        if 0 < max_messages < kept.messages:
            lost = format_count(kept.messages - max_messages)
            yield (
                f"{format_count(kept.messages)} messages kept but max_msgs is {format_count(max_messages)}: "
                f"restore will discard the oldest {lost}"
            )
        if 0 < max_bytes < kept.bytes:
            yield (
                f"{format_count(kept.bytes)} bytes kept but max_bytes is {format_count(max_bytes)}: "
                "restore will discard the oldest messages"
            )
        if kept.old:
            age = format_exact_duration(self._max_age)
            yield (
                f"{format_count(kept.old)} kept messages are already older than max_age {age}: "
                "restore will discard them"
            )
        if 0 < max_per_subject < (self._options.last_per_subject or 0):
            yield (
                f"last-per-subject {self._options.last_per_subject} exceeds max_msgs_per_subject "
                f"{max_per_subject}: restore will keep only {max_per_subject} per subject"
            )


def _copy_block(
    start: int, frame: Frame, block: memoryview, ranges: deque[Range], writer: ArchiveWriter
) -> None:
    """Write the parts of a block that are in ranges. start: its offset in the archive."""
    stop = start + len(block)
    while ranges and ranges[0].stop <= start:
        ranges.popleft()
    if ranges and ranges[0].start <= start and ranges[0].stop >= stop:
        writer.add_frame(frame)
        return
    for kept in ranges:
        if kept.start >= stop:
            break
        writer.add(block[max(kept.start - start, 0) : kept.stop - start])
