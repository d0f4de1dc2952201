"""An entry of a bucket: the value of a key, or a marker that says how it was removed (ADR-8, ADR-48)."""

from collections.abc import Sequence
from typing import NamedTuple

from jsctl.jetstream.api import Json
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.message.payload import group_headers
from jsctl.nats.message import Message

OPERATION, REASON, TTL, ROLLUP = "KV-Operation", "Nats-Marker-Reason", "Nats-TTL", "Nats-Rollup"
PUT, DELETE, PURGE = "PUT", "DEL", "PURGE"
_SIZE = "Nats-Msg-Size"  #: of a value that was left out
_BOOKKEEPING = "Nats-"  #: what headers of clients and servers begin with, that are not for those who read
_ONLY_SIZE = b"NATS/1.0\r\nNats-Msg-Size: "  #: of a block with no other header
_new = tuple.__new__  #: a third of the time of a named tuple's own
_OF_REASONS = {"MaxAge": PURGE, "Purge": PURGE, "Remove": DELETE}
"""What the server's markers mean to clients (nats.go: kv.go)."""

REASONS = {
    "MaxAge": "expired",
    "Purge": "was purged from the stream",
    "Remove": "was removed from the stream",
}
"""What happened to a key, by the reason in the server's marker."""


class Entry(NamedTuple):
    """The entry of a key at a revision.

    operation: PUT, or DEL and PURGE for a marker without a value. value: empty where only the entry's
    headers were read; size: its bytes all the same. reason: why the server wrote a marker; empty for what a
    client did. ttl: as it was stored, empty without one. headers: those that have nothing to do with buckets
    and streams.
    """

    key: str
    value: bytes
    revision: int
    time: str
    operation: str = PUT
    size: int = 0
    reason: str = ""
    ttl: str = ""
    headers: Sequence[tuple[str, str]] = ()

    @property
    def is_value(self) -> bool:
        """Whether it is a value, instead of a marker."""
        return self.operation == PUT

    @property
    def removal(self) -> str:
        """What happened to the key, in words; for a marker."""
        if self.reason:
            return REASONS.get(self.reason, f"was removed ({self.reason})")
        return "was purged" if self.operation == PURGE else "was deleted"


def decode_entry(bucket: Bucket, message: Message) -> Entry:
    """Decode the entry in a stored message."""
    key, data, block = message.subject.removeprefix(bucket.prefix), message.data, message.header_block
    metadata = message.metadata
    sequence, time = (metadata.sequence, metadata.timestamp) if metadata else (0, "")
    if not block or (block.startswith(_ONLY_SIZE) and block.count(b"\r\n") == 3):  # nearly always
        left_out = block[len(_ONLY_SIZE) : -4] if block and not data else b""
        length = int(left_out) if left_out.isdigit() else len(data)
        return _new(Entry, (key, data, sequence, time, PUT, length, "", "", ()))
    headers = message.headers
    values = dict(headers)
    size, reason, operation = values.get(_SIZE, ""), values.get(REASON, ""), values.get(OPERATION, "")
    if reason and not operation:
        operation = _OF_REASONS.get(reason, DELETE)
    return Entry(
        key,
        data,
        sequence,
        time,
        operation if operation in (DELETE, PURGE) else PUT,
        int(size) if size.isdigit() and not data else len(data),
        reason,
        values.get(TTL, ""),
        [pair for pair in headers if pair[0] != OPERATION and not pair[0].startswith(_BOOKKEEPING)],
    )


def build_headers(operation: str, ttl: str = "", expected: int | None = None) -> list[tuple[str, str]]:
    """Return the headers that store an entry.

    operation: PUT for a value. ttl: as `Nats-TTL` takes it. expected: the revision that the key must have,
    0 for none.
    """
    headers: list[tuple[str, str]] = []
    if operation != PUT:
        headers.append((OPERATION, operation))
    if operation == PURGE:
        headers.append((ROLLUP, "sub"))
    if ttl:
        headers.append((TTL, ttl))
    if expected is not None:
        headers.append(("Nats-Expected-Last-Subject-Sequence", str(expected)))
    return headers


def record(bucket: str, entry: Entry, *, value: Json | None = None) -> Json:
    """Return the JSON object of an entry. value: the fields of its value; None leaves it out."""
    fields: Json = {
        "bucket": bucket,
        "key": entry.key,
        "revision": entry.revision,
        "created": entry.time,
        "operation": entry.operation,
    }
    if entry.reason:
        fields["reason"] = entry.reason
    if entry.ttl:
        fields["ttl"] = entry.ttl
    if entry.operation == PUT:
        fields["size"] = entry.size
        if value:
            fields.update(value)
    if entry.headers:
        fields["headers"] = group_headers(entry.headers)
    return fields
