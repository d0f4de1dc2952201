"""An entry of a bucket: the value of a key, or a marker that says how it was removed (ADR-8, ADR-48)."""

from collections.abc import Sequence
from typing import NamedTuple

from jsctl.jetstream.api import Json
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.message.payload import encode_headers_field
from jsctl.nats.message import Message

OPERATION, REASON, TTL, ROLLUP = "KV-Operation", "Nats-Marker-Reason", "Nats-TTL", "Nats-Rollup"
PUT, DELETE, PURGE = "PUT", "DELETE", "PURGE"  #: as `nats` shows them
MARKERS = {"DEL": DELETE, "PURGE": PURGE}
"""The operations of markers, by the header of a client."""

_HEADERS = {operation: header for header, operation in MARKERS.items()}
_SIZE = "Nats-Msg-Size"  #: header with the size of a value that was left out
_SERVER_PREFIX = "Nats-"  #: of the headers that clients and servers use themselves
_ONLY_SIZE = b"NATS/1.0\r\nNats-Msg-Size: "  #: the beginning of a block with no other header
_new_tuple = tuple.__new__  #: three times as fast as calling the named tuple
_REASON_OPERATIONS = {"MaxAge": PURGE, "Purge": PURGE, "Remove": DELETE}
"""The operations that the server's markers stand for (nats.go: kv.go)."""

REASONS = {
    "MaxAge": "expired",
    "Purge": "was purged from the stream",
    "Remove": "was removed from the stream",
}
"""What happened to a key, by the reason in the server's marker."""


class Entry(NamedTuple):
    """The entry of a key at a revision.

    operation: PUT, or DELETE and PURGE for a marker without a value. value: empty if only the entry's headers
    were read. size: the value's in bytes, in any case. reason: why the server wrote a marker; empty for a
    client's. ttl: as it was stored, empty if there is none. headers: those that clients and servers do not
    use themselves.
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
        """Whether it is a value, not a marker."""
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
        omitted_size = block[len(_ONLY_SIZE) : -4] if block and not data else b""
        length = int(omitted_size) if omitted_size.isdigit() else len(data)
        return _new_tuple(Entry, (key, data, sequence, time, PUT, length, "", "", ()))
    headers = message.headers
    values = dict(headers)
    size, reason, header = values.get(_SIZE, ""), values.get(REASON, ""), values.get(OPERATION, "")
    operation = MARKERS.get(header, PUT)
    if reason and not header:
        operation = _REASON_OPERATIONS.get(reason, DELETE)
    return Entry(
        key,
        data,
        sequence,
        time,
        operation,
        int(size) if size.isdigit() and not data else len(data),
        reason,
        values.get(TTL, ""),
        [pair for pair in headers if pair[0] != OPERATION and not pair[0].startswith(_SERVER_PREFIX)],
    )


def decode_keys(bucket: Bucket, entries: Sequence[Entry]) -> Sequence[Entry]:
    """Return the entries with the keys as people call them, to be shown. Raises JsctlError."""
    if not bucket.codec:
        return entries
    return [entry._replace(key=bucket.decode_key(entry.key)) for entry in entries]


def build_headers(operation: str, ttl: str = "", expected: int | None = None) -> list[tuple[str, str]]:
    """Return the headers that store an entry.

    operation: PUT for a value. ttl: as `Nats-TTL` takes it. expected: the revision that the key must have,
    0 for none.
    """
    headers: list[tuple[str, str]] = []
    if operation != PUT:
        headers.append((OPERATION, _HEADERS[operation]))
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
        fields |= encode_headers_field(entry.headers)
    return fields
