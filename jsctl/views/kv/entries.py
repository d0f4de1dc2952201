"""Entries of a bucket: one, a list, a history, changes as they happen. The text is not cleaned yet."""

from collections.abc import AsyncIterator, Callable, Sequence
from operator import attrgetter

from jsctl.base.units import format_time
from jsctl.jetstream.kv.entry import Entry, record
from jsctl.jetstream.message.payload import format_payload
from jsctl.nats.acks import Metadata
from jsctl.nats.message import Message
from jsctl.views.events import End, Events, Presentation
from jsctl.views.kv.value import full_record, short_value
from jsctl.views.message.decoded import Lens, Seen, add_decoded
from jsctl.views.result import Cell, Column, LazySequence, Result, Style, Table

Entries = AsyncIterator[Sequence[Entry]]


LENS: Lens[Entry] = Lens(
    lambda entry: (
        Message(entry.key, entry.value, metadata=Metadata("", entry.revision, entry.time))
        if entry.is_value
        else None
    ),
    lambda entry, value: entry._replace(value=value),
)


def values(bucket: str, batches: Entries, *, raw: bool, single: bool) -> Events[Entry]:
    """Return the entries of `kv get`.

    single: one key was named; the raw form is then its value byte for byte, and the document is an object.
    """
    end = b"" if single else b"\n"

    def text(entry: Entry) -> str:
        heading = f"{bucket} > {entry.key} revision: {entry.revision} created @ {format_time(entry.time)}"
        expiry = f" TTL: {entry.ttl}" if entry.ttl else ""
        return f"{heading}{expiry}\n\n{format_payload(entry.value).removesuffix(chr(10))}\n\n"

    return Events(
        batches=batches,
        shown=Presentation(
            text=(lambda entry: format_payload(entry.value) + "\n") if raw else text,
            record=lambda entry: full_record(bucket, entry),
            raw=(lambda entry: entry.value + end) if raw else None,
            layout="single" if single else "array",
            indent=2,
        ),
        end=End(noun="key"),
    )


_HEAD = (
    Column("Key", "key"),
    Column("Created", "created", "time", hideable=3),
    Column("Revision", "revision", "number"),
    Column("Size", "size", "bytes", hideable=1),
)
_TTL = Column("TTL", "ttl", hideable=2)
_VALUE = Column("Value", "value", is_payload=True)


def keys(bucket: str, entries: Sequence[Entry], *, with_values: bool) -> Result:
    """Show the list of `kv ls --verbose`."""
    has_ttl = any(entry.ttl for entry in entries)
    columns = [*_HEAD, *([_TTL] if has_ttl else []), *([_VALUE] if with_values else [])]

    def row(entry: Entry) -> Sequence[object]:
        key, _, revision, time, _, size, _, ttl, _ = entry
        cells = (key, time, revision, size, ttl) if has_ttl else (key, time, revision, size)
        return (*cells, short_value(entry)) if with_values else cells

    def document() -> object:
        return [full_record(bucket, entry) if with_values else record(bucket, entry) for entry in entries]

    title = f"Contents of Bucket {bucket}"
    table = Table(title, columns, LazySequence(entries, row))
    return Result([table], data=document)


_OPERATIONS: dict[str, Style] = {"PUT": "good", "DELETE": "bad", "PURGE": "bad"}


def history(bucket: str, key: str, seen: Sequence[Seen[Entry]]) -> Result:
    """Show the entries of `kv history`, the oldest first."""

    def operation(entry: Entry) -> Cell:
        reason = f" ({entry.reason})" if entry.reason else ""
        return Cell(entry.operation, entry.operation + reason, _OPERATIONS[entry.operation])

    columns = (
        Column("Key", "key"),
        Column("Revision", "revision", "number"),
        Column("Op", "operation", read=operation),
        Column("Created", "created", "time", read=attrgetter("time")),
        Column("Length", "size", "count", hideable=1),
        _VALUE._replace(read=short_value),
    )
    rows = LazySequence(seen, lambda each: [column.get(each.shown) for column in columns])
    table = Table(f"History of {bucket} > {key}", columns, rows)

    def document() -> object:
        return [add_decoded(full_record(bucket, event), decoded) for event, _, decoded in seen]

    return Result([table], data=document)


def changes(bucket: str, batches: Entries, *, limit: int, stop: Callable[[], None]) -> Events[Entry]:
    """Return the changes of `kv watch`."""

    def text(entry: Entry) -> str:
        head = f"[{format_time(entry.time)}] {entry.operation} {bucket} > {entry.key}"
        if not entry.is_value:
            return f"{head} ({entry.reason})\n" if entry.reason else f"{head}\n"
        return f"{head}: {format_payload(entry.value).removesuffix(chr(10))}\n"

    return Events(
        batches=batches,
        shown=Presentation(text=text, record=lambda entry: full_record(bucket, entry)),
        end=End(limit=limit, endless=True, stop=stop, noun="change"),
    )
