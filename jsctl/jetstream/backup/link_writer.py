"""Writing a link of a chain: of a stream's snapshot, what its parent lacks (see `files`, `chain`).

A server sends snapshots of all of a stream only; a link saves room on disk, and what is moved with it.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from jsctl.base.files import resolve_path
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.jetstream.backup.archive import (
    ArchiveReader,
    Consumer,
    Message,
    State,
    compute_stored_size,
    encode_state,
)
from jsctl.jetstream.backup.archive_file import ArchiveWriter
from jsctl.jetstream.backup.encryption import create_file
from jsctl.jetstream.backup.files import GONE, LINK_DATA, Backup, find_snapshot_fault
from jsctl.jetstream.backup.s2 import FrameReader
from jsctl.jetstream.backup.writer import BackupWriter, naming, sync

_IN_FULL = "back it up without --since"


async def check_parent(api: Api, parent: Backup, info: Json, target: Path, recipients: Sequence[str]) -> None:
    """Raise BadInput unless a backup can be the parent of a new one of a stream. info: the stream's."""
    if parent.is_encrypted != bool(recipients):
        raise BadInput(
            f"{parent.path} is {'' if parent.is_encrypted else 'not '}encrypted: a chain is as a whole, "
            "or not at all",
            f"{'add' if parent.is_encrypted else 'leave out'} --encrypt-to, or {_IN_FULL}",
        )
    name, created = str(info["config"]["name"]), parent.manifest.get("created")
    place, parts = resolve_path(target), {resolve_path(part.path) for part in parent.parts}
    if parts & {place, *place.parents}:
        raise BadInput(f"{target} is a part of the chain itself, or in one", "choose another target")
    if parent.stream != name:
        raise BadInput(f"{parent.path} holds a backup of stream {parent.stream}, not of {name}")
    if not created:
        raise BadInput(
            f"{parent.path} does not say when its stream was created, so that nothing can follow it",
            f"{_IN_FULL} first",
        )
    last = int(parent.state.get("last_seq", 0))
    if info["created"] != created:
        raise BadInput(
            f"stream {name} was made anew since the backup in {parent.path}: it was created "
            f"{info['created']}, not {created}",
            _IN_FULL,
        )
    if int(info["state"]["last_seq"]) < last:
        raise BadInput(
            f"stream {name} was made anew since the backup in {parent.path}: its last sequence is "
            f"{int(info['state']['last_seq']):,}, below {last:,}",
            _IN_FULL,
        )
    await api_levels.require(api, {ApiLevel.V2_15: ["a backup since another one"]})


class LinkWriter(BackupWriter):
    """A writer of a link; it is given a stream's snapshot like a `BackupWriter`."""

    def __init__(
        self, folder: Path, description: Json, target: Path, recipients: Sequence[str], parent: Backup
    ) -> None:
        place = os.path.relpath(resolve_path(parent.path), resolve_path(target).parent)
        since = {"path": place, "started": parent.manifest["started"], "sha256": parent.digest}
        super().__init__(folder, {**description, "since": since}, target, recipients)
        self._since = int(parent.state.get("last_seq", 0))
        self._before = int(parent.state.get("messages", 0))
        self._frames, self._reader = FrameReader(), ArchiveReader(yields="messages")
        self._archive = ArchiveWriter(self._store)
        self._state: Json = {}
        self._next = 0  #: the sequence after the last one that was seen
        self._stayed = self._new = self._bytes = 0
        self._gone_digest, self._gone_size = sha256(), 0
        with naming(target):
            try:
                self._gone = create_file(folder / self._get_stored_name(GONE), recipients)
            except BaseException:
                self.abandon()
                raise

    def write(self, chunk: bytes) -> None:
        """Take the next piece of the snapshot. Raises JsctlError for data that is not a snapshot."""
        self.scanner.scan(chunk)
        with _naming_damage():
            for frame in self._frames.feed(chunk):
                for item in self._reader.feed(frame.decode()):
                    if isinstance(item, Message):
                        self._take(item)
                    elif isinstance(item, State):
                        self._state = item.state
                        self._next = max(1, int(item.state.get("first_seq", 0)))
                        self._archive.add(encode_state(item.state, item.time))
                    elif isinstance(item, Consumer):
                        self._archive.add(item.raw)

    def finish(self, config: Json, state: Json, extra: Json) -> Json:
        """Check the snapshot's end, and mark the link as complete; return the manifest."""
        if fault := find_snapshot_fault(self.scanner):
            raise JsctlError(f"the snapshot is incomplete: {fault}", "try again")
        with _naming_damage():
            self._reader.finish()
        self._write_gone(self._since)
        self._archive.finish()
        with naming(self._target):
            sync(self._gone)
            self._gone.close()
        counts = {"messages": self._stayed + self._new, "bytes": self._bytes}
        if counts["messages"]:  # messages may have gone while the server sent it
            state = {**state, "first_seq": self._reader.totals.first_sequence}
        gone = max(0, self._before - self._stayed)
        chain = {**counts, "new": self._new, "gone": gone}
        gone_file = {GONE: {"bytes": self._gone_size, "sha256": self._gone_digest.hexdigest()}}
        return self._complete(LINK_DATA, config, {**state, **counts}, {**extra, "chain": chain}, gone_file)

    def abandon(self) -> None:
        """Remove what was written, as far as possible; a finished link stays."""
        with self._archive:  # ends its threads
            with suppress(OSError):
                self._gone.close()
            super().abandon()

    def _take(self, message: Message) -> None:
        self._bytes += compute_stored_size(message.subject, message.header_block, message.data)
        if message.sequence > self._since:
            self._new += 1
            self._archive.add(message.raw)
            return
        self._stayed += 1
        if message.sequence > self._next:
            self._write_gone(message.sequence - 1)
        self._next = message.sequence + 1

    def _write_gone(self, last: int) -> None:
        """Write that the sequences from the next one to `last` have no message."""
        if self._next > last:
            return
        line = b"%d %d\n" % (self._next, last)
        self._gone_digest.update(line)
        self._gone_size += len(line)
        with naming(self._target):
            self._gone.write(line)


@contextmanager
def _naming_damage() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise JsctlError(f"the snapshot is damaged: {error}", "try again") from None
