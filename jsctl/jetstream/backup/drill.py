"""Rehearsals of a restore: a backup is restored on a server of our own, and compared with what came of it."""

import time
from contextlib import aclosing, closing
from dataclasses import dataclass, field
from typing import NamedTuple

from jsctl.base.loops import run_in_thread
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.backup.archive import ArchiveReader, Consumer, Item, Message, State
from jsctl.jetstream.backup.chain import read_entries
from jsctl.jetstream.backup.events import Observer, Phase, RestoreStarted
from jsctl.jetstream.backup.files import Backup
from jsctl.jetstream.backup.marks import remove_mark
from jsctl.jetstream.backup.s2 import FrameReader
from jsctl.jetstream.backup.snapshot import request_snapshot
from jsctl.jetstream.backup.stream_restore import load_stream
from jsctl.jetstream.backup.verification import read_backup
from jsctl.jetstream.config.kind import is_server_metadata
from jsctl.jetstream.config.schema import without_metadata
from jsctl.jetstream.stream.config import STREAM

_LEFT_OUT = frozenset(
    (
        *("max_age", "allow_msg_ttl", "subject_delete_marker_ttl", "allow_msg_schedules"),
        *("mirror", "sources", "republish", "placement", "subject_transform"),
    )
)
"""Settings that would remove, add or send messages during a drill, or need other servers."""

_MAX_LISTED = 10
"""Maximum number of sequences that are listed."""


@dataclass(slots=True)
class DrillComparison:
    """How a restored stream differs from its backup.

    missing, different, added: messages; sequences: of the first few of them. consumers: name -> what differs.
    expiring: messages that are older than the stream's maximum age.
    """

    messages: int = 0
    missing: int = 0
    different: int = 0
    added: int = 0
    sequences: list[int] = field(default_factory=list)
    saved_consumers: int = 0
    consumers: dict[str, str] = field(default_factory=dict)
    expiring: int = 0

    @property
    def is_exact(self) -> bool:
        """Whether nothing differs."""
        return not (self.missing or self.different or self.added or self.consumers)


class Drill(NamedTuple):
    """The outcome of a drill. Times are in ns; sent: bytes that were sent to the server."""

    backup: Backup
    comparison: DrillComparison
    verification: int
    restore: int
    sent: int


async def run_drill(api: Api, backup: Backup, observer: Observer) -> Drill:
    """Verify a backup, restore it on an empty server, and compare all messages and consumers.

    api: of an account of that server. Raises BadInput for a damaged backup, JsctlError.
    """
    started = time.monotonic_ns()
    with observer.progress(Phase("verify", backup.stream), backup.size) as advance:
        await run_in_thread(read_backup, backup, advance=advance)
    verified = time.monotonic_ns()
    config = {key: value for key, value in backup.config.items() if key not in _LEFT_OUT}
    config = {**remove_mark(STREAM.without_server_keys(config)), "num_replicas": 1}
    observer.notify(RestoreStarted(backup.stream, backup.stream, backup.path, backup.size))
    sent = 0
    with observer.progress(Phase("transfer", backup.stream), backup.size) as advance:

        def count(size: int) -> None:
            nonlocal sent
            sent += size
            advance(size)

        await load_stream(api, backup, config, count)
    restored = time.monotonic_ns()
    comparison = await _compare(api, backup, observer)
    return Drill(backup, comparison, verified - started, restored - verified, sent)


async def _compare(api: Api, backup: Backup, observer: Observer) -> DrillComparison:
    """Compare a restored stream with its backup: entry by entry, by a snapshot of it."""
    comparer = _Comparer(backup)
    total = int(backup.state.get("messages", 0))
    with closing(comparer), observer.progress(Phase("compare", backup.stream), total) as advance:
        async with (
            request_snapshot(api, backup.stream, consumers=True) as snapshot,
            aclosing(snapshot.chunks) as chunks,
        ):
            async for chunk in chunks:
                before = comparer.result.messages
                await run_in_thread(comparer.feed, chunk)
                advance(comparer.result.messages - before)
        await run_in_thread(comparer.finish)
    return comparer.result


class _Comparer:
    """A comparison with the snapshot of a restored stream, which is fed piece by piece."""

    def __init__(self, backup: Backup) -> None:
        self.result = DrillComparison()
        max_age = int(backup.config.get("max_age") or 0)
        self._oldest = time.time_ns() - max_age if max_age > 0 else 0
        self._frames, self._reader = FrameReader(), ArchiveReader(yields="messages")
        self._entries = read_entries(backup)
        self._saved: dict[str, Json] = {}
        self._restored: dict[str, Json] = {}
        self._first = 0
        self._expected = self._read_expected()

    def close(self) -> None:
        """End the threads that read the backup."""
        self._entries.close()

    def feed(self, chunk: bytes) -> None:
        """Compare a piece of the snapshot."""
        for frame in self._frames.feed(chunk):
            for item in self._reader.feed(frame.decode()):
                self._compare(item)

    def finish(self) -> None:
        """Compare what is left. Raises ValueError for a snapshot that ended early."""
        self._reader.finish()
        while self._expected is not None:
            self._add_missing(self._expected)
        self.result.saved_consumers = len(self._saved)
        for name in sorted(self._saved | self._restored):
            if remark := _compare_consumers(self._saved.get(name), self._restored.get(name), self._first):
                self.result.consumers[name] = remark

    def _read_expected(self) -> Message | None:
        """Return the next message of the backup, None after the last."""
        for item in self._entries:
            if isinstance(item, Message):
                self.result.messages += 1
                self.result.expiring += item.time < self._oldest
                return item
            if isinstance(item, Consumer):
                self._saved[item.name] = item.content
        return None

    def _compare(self, item: Item) -> None:
        if isinstance(item, State):
            self._first = int(item.state.get("first_seq", 0))
        elif isinstance(item, Consumer):
            self._restored[item.name] = item.content
        elif isinstance(item, Message):
            while self._expected is not None and self._expected.sequence < item.sequence:
                self._add_missing(self._expected)
            if self._expected is None or self._expected.sequence > item.sequence:
                self.result.added += 1
                self._list(item)
                return
            if self._expected[:5] != item[:5]:
                self.result.different += 1
                self._list(item)
            self._expected = self._read_expected()

    def _add_missing(self, message: Message) -> None:
        self.result.missing += 1
        self._list(message)
        self._expected = self._read_expected()

    def _list(self, message: Message) -> None:
        if len(self.result.sequences) < _MAX_LISTED:
            self.result.sequences.append(message.sequence)


def _compare_consumers(saved: Json | None, restored: Json | None, first: int) -> str:
    """Return how a restored consumer differs; empty if it does not. first: the stream's first sequence."""
    if saved is None or restored is None:
        return "it is missing" if restored is None else "it is not in the backup"
    before, after = _clean(saved["config"]), _clean(restored["config"])
    differences = [key for key in sorted(before | after) if before.get(key) != after.get(key)]
    positions = [_describe_position(each["state"], first) for each in (saved, restored)]
    return ", ".join(differences + [key for key in positions[0] if positions[0][key] != positions[1][key]])


def _clean(config: Json) -> Json:
    """Return a consumer's configuration without what servers add."""
    return {**without_metadata(config, is_server_metadata), "num_replicas": 0}


def _describe_position(state: Json, first: int) -> Json:
    """Return which messages a consumer has delivered. A server raises positions to the stream's first
    sequence, and drops what is pending below it."""

    def raise_sequence(key: str) -> int:
        return max(int((state.get(key) or {}).get("stream_seq", 0)), first - 1)

    def list_sequences(key: str) -> list[int]:
        return sorted(sequence for sequence in map(int, state.get(key) or {}) if sequence >= first)

    return {
        "delivered": raise_sequence("delivered"),
        "ack floor": raise_sequence("ack_floor"),
        "pending": list_sequences("pending"),
        "redelivered": list_sequences("redelivered"),
    }
