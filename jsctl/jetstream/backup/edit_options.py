"""The options of an edit: which messages stay, and what becomes of them (jsm.go: backup/options.go,
filter.go)."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from jsctl.base.patterns import compile_go_pattern
from jsctl.base.units import format_rfc3339
from jsctl.errors import BadInput
from jsctl.jetstream.backup.archive import MAX_SEQUENCE, MAX_TIME, MIN_TIME, Message, Selection
from jsctl.jetstream.kv import entry
from jsctl.nats.headers import Headers, parse_headers
from jsctl.nats.subjects import is_subject

Drop = Literal["sequence", "time", "subject", "header", "payload", "last_per_subject", "kv_compact"]
"""What drops a message: the first of these that does."""

_MAX_PATTERN = (1 << 16) - 1


@dataclass(frozen=True)
class EditOptions:
    """Options of an edit; a message must pass all of them to stay. Times are in ns since the epoch.

    after, before: it was stored at or after, and before. headers: it has one of these, NAME or NAME:VALUE.
    payload_match: its payload matches one of these expressions, in Go's syntax. last_per_subject: only the
    newest of each subject, of those that pass the others. kv_compact: only the newest value of each key.
    recipients: public keys of age for which the copy is encrypted. decrypt: the copy of an encrypted backup
    may be in clear.
    """

    subject: Sequence[str] = ()
    exclude_subject: Sequence[str] = ()
    after: int | None = None
    before: int | None = None
    first_seq: int | None = None
    last_seq: int | None = None
    header: Sequence[str] = ()
    exclude_header: Sequence[str] = ()
    payload_match: Sequence[str] = ()
    exclude_payload_match: Sequence[str] = ()
    last_per_subject: int | None = None
    kv_compact: bool = False
    renumber: bool = False
    dry_run: bool = False
    obfuscate: bool = False
    key_file: Path | None = None
    recipients: Sequence[str] = ()
    decrypt: bool = False

    def __post_init__(self) -> None:
        for subject in (*self.subject, *self.exclude_subject):
            if not is_subject(subject) or len(subject.encode()) > _MAX_PATTERN:
                raise BadInput(f"{subject!r} is not a valid subject", "use tokens separated by dots")
        for flag, time in (("--after", self.after), ("--before", self.before)):
            if time is not None and not MIN_TIME < time <= MAX_TIME:
                raise BadInput(f"{flag} is outside the times of messages", "use one from 1678 to 2262")
        for flag, sequence in (("--first-seq", self.first_seq), ("--last-seq", self.last_seq)):
            if sequence is not None and not 0 <= sequence <= MAX_SEQUENCE:
                raise BadInput(f"{flag} {sequence} is not a valid sequence", "use 0 or more")
        if self.after is not None and self.before is not None and self.after >= self.before:
            raise BadInput("--after must be earlier than --before")
        if self.first_seq is not None and self.last_seq is not None and self.first_seq > self.last_seq:
            raise BadInput(f"--first-seq {self.first_seq} is above --last-seq {self.last_seq}")
        for name in (*(header.partition(":")[0] for header in self.header), *self.exclude_header):
            if not name or re.search(r"[: \t\r\n]", name):
                raise BadInput(f"{name!r} is not a valid header name", "use printable ASCII without a colon")
        if self.last_per_subject is not None and self.last_per_subject < 1:
            raise BadInput("--last-per-subject must be 1 or more")
        if self.kv_compact and self.last_per_subject is not None:
            raise BadInput(
                "--kv-compact and --last-per-subject cannot be used together",
                "they are mutually exclusive: --kv-compact keeps one value of each key",
            )
        if self.recipients and self.decrypt:
            raise BadInput("--encrypt-to and --decrypt cannot be used together", "leave one of them out")
        if self.recipients and self.obfuscate:
            raise BadInput(
                "--obfuscate writes a key file in clear, which --encrypt-to does not encrypt",
                "leave one of them out",
            )
        if self.key_file and not self.obfuscate:
            raise BadInput("--obfuscation-key requires --obfuscate")
        _ = self._matches_payload

    @property
    def is_per_subject(self) -> bool:
        """Whether all messages have to be seen before one can be kept."""
        return self.last_per_subject is not None or self.kv_compact

    @property
    def keeps_entries(self) -> bool:
        """Whether messages stay or go as they are, by sequence, time and subject alone."""
        reads = (self.header, self.exclude_header, self.payload_match, self.exclude_payload_match)
        return not (any(reads) or self.is_per_subject or self.renumber or self.obfuscate)

    def select(self, old_before: int) -> Selection:
        """Return which messages stay by sequence, time and subject."""
        return Selection(
            first_sequence=self.first_seq or 0,
            last_sequence=MAX_SEQUENCE if self.last_seq is None else self.last_seq,
            from_time=MIN_TIME if self.after is None else self.after,
            to_time=MAX_TIME if self.before is None else self.before - 1,
            subjects=self.subject,
            excluded_subjects=self.exclude_subject,
            old_before=old_before,
        )

    def find_drop(self, message: Message) -> Drop | None:
        """Return what drops a message because of its headers or payload, None if it stays."""
        if self.header or self.exclude_header:
            headers = parse_headers(message.header_block) if message.header_block else []
            if any(_has_header(headers, name) for name in self.exclude_header):
                return "header"
            if self.header and not any(_has_header(headers, wanted) for wanted in self.header):
                return "header"
        return None if self._matches_payload is None or self._matches_payload(message.data) else "payload"

    @cached_property
    def _matches_payload(self) -> Callable[[bytes], bool] | None:
        kept = [_compile(text) for text in self.payload_match]
        excluded = [_compile(text) for text in self.exclude_payload_match]
        if not kept and not excluded:
            return None

        def matches(data: bytes) -> bool:
            text = data.decode(errors="replace")
            if any(pattern.search(text) for pattern in excluded):
                return False
            return not kept or any(pattern.search(text) for pattern in kept)

        return matches

    def list_canonical(self) -> list[str]:
        """Return the options as a backup records them: in one order, whatever that of the command line."""
        return list(self._list())

    def _list(self) -> Iterator[str]:
        presence = [header for header in self.header if ":" not in header]
        values = [header for header in self.header if ":" in header]
        yield from _name("subject", self.subject)
        yield from _name("exclude-subject", self.exclude_subject)
        yield from _name("after", [] if self.after is None else [format_rfc3339(self.after)])
        yield from _name("before", [] if self.before is None else [format_rfc3339(self.before)])
        yield from _name("first-seq", [] if self.first_seq is None else [str(self.first_seq)])
        yield from _name("last-seq", [] if self.last_seq is None else [str(self.last_seq)])
        yield from (*_name("header", presence), *_name("header", values))
        yield from _name("no-header", self.exclude_header)
        yield from _name("payload-match", self.payload_match)
        yield from _name("exclude-payload-match", self.exclude_payload_match)
        yield from _name("last-per-subject", [str(self.last_per_subject)] if self.last_per_subject else [])
        for name in ("kv_compact", "renumber", "obfuscate"):
            if getattr(self, name):
                yield name.replace("_", "-")


def is_tombstone(header_block: bytes) -> bool:
    """Return whether a message of a bucket marks its key as deleted."""
    if not header_block:
        return False
    headers = dict(reversed(parse_headers(header_block)))
    operation = headers.get(entry.OPERATION, "")
    return operation in entry.MARKERS if operation else headers.get(entry.REASON) in entry.REASONS


def _compile(text: str) -> re.Pattern[str]:
    try:
        return compile_go_pattern(text)
    except BadInput as error:
        raise BadInput(f"invalid payload expression: {error}") from None


def _has_header(headers: Headers, wanted: str) -> bool:
    name, colon, value = wanted.partition(":")
    return any(key.lower() == name.lower() and (not colon or found == value) for key, found in headers)


def _name(name: str, values: Sequence[str]) -> list[str]:
    return [f"{name}={value}" for value in sorted(values)]
