"""Key-value and object buckets as tables: their columns, and the latest revision of each key.

A bucket is a stream (ADR-8, ADR-20): KV_<bucket> with a subject $KV.<bucket>.<key> for each key, or
OBJ_<bucket> with a subject $O.<bucket>.M.<name in base64> for the metadata of each object.

| column      | Spark type          |                                                                       |
|-------------|---------------------|-----------------------------------------------------------------------|
| bucket      | string              |                                                                       |
| key         | string              |                                                                       |
| value       | binary              | null when the key was deleted                                         |
| revision    | long                | the message's sequence                                                |
| operation   | string              | put, delete (the key) or purge (the key and its history)              |
| created     | timestamp           | when the server stored it, UTC                                        |

With the option decode, the columns of `spark.decoding.columns` follow the others and replace `value`.

| column      | Spark type          |                                                                       |
|-------------|---------------------|-----------------------------------------------------------------------|
| bucket, revision, operation, created | | as above, without purge                          |
| name        | string              | of the object                                                         |
| description | string              |                                                                       |
| size        | long                | bytes                                                                 |
| chunks      | long                | messages that hold them                                               |
| digest      | string              | SHA-256=..., in base64                                                |
| metadata    | map(string, string) |                                                                       |
| link        | string              | bucket, or bucket/name, that it stands for; null for other objects    |
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from jsctl.base.json_text import parse_json
from jsctl.jetstream.api import Json
from jsctl.jetstream.kv import names as kv
from jsctl.jetstream.object import model as objects
from jsctl.spark.source.bucket_options import OBJECT_COLUMNS
from jsctl.spark.source.messages import SPARK_TIME, find_type

if TYPE_CHECKING:
    from jsctl.spark.decoding.columns import PayloadColumns

_OPERATIONS = {"DEL": "delete", "PURGE": "purge"}
_MARKERS = {"maxage": "purge", "purge": "purge", "remove": "delete"}
"""The reason for a marker that the server wrote in place of removed messages (ADR-43) -> the operation, as
clients read it."""

_COMPACT_BYTES = 256 << 20
"""Rows of `latest` in memory after which earlier revisions are dropped."""


def build_kv_batch(stream: str, batch: pa.RecordBatch, payload: "PayloadColumns | None") -> pa.RecordBatch:
    """Return the rows of messages of a bucket. payload: makes columns of values, which then come last."""
    subjects, sequences, times, data, headers = batch.columns
    operations = [_find_operation(block) for block in headers.to_pylist()]
    is_put = pa.array([operation == "put" for operation in operations], pa.bool_())
    columns = {
        "bucket": _build_bucket_column(stream, kv.STREAM_PREFIX, len(sequences)),
        "key": pa.array([_parse_key(subject) for subject in subjects.to_pylist()], pa.string()),
        "value": pc.if_else(is_put, data, pa.scalar(None, pa.binary())),
        "revision": sequences,
        "operation": pa.array(operations, pa.string()),
        "created": times.cast(SPARK_TIME, safe=False),
    }
    if payload:
        # A deleted key has no value: decoding is skipped, and does not fail.
        values = payload.decode_present(columns.pop("value"))
        columns |= zip(payload.schema.names, values, strict=True)
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def build_object_batch(stream: str, sequences: pa.Array, times: pa.Array, data: pa.Array) -> pa.RecordBatch:
    """Return the rows of messages about objects. The name is null if a message is not JSON."""
    rows = [_decode_object(payload) for payload in data.to_pylist()]
    columns: list[pa.Array] = []
    for name in OBJECT_COLUMNS:
        if name == "bucket":
            columns.append(_build_bucket_column(stream, objects.STREAM_PREFIX, len(sequences)))
        elif name == "revision":
            columns.append(sequences)
        elif name == "created":
            columns.append(times.cast(SPARK_TIME, safe=False))
        else:
            columns.append(pa.array([row.get(name) for row in rows], find_type(name)))
    return pa.RecordBatch.from_arrays(columns, names=list(OBJECT_COLUMNS))


def select_latest(batches: Iterator[pa.RecordBatch], key: str) -> Iterator[pa.RecordBatch]:
    """Yield the row with the highest revision of each key. key: the column that identifies a row."""
    rows: list[pa.RecordBatch] = []
    size = limit = 0
    for batch in batches:
        rows.append(batch)
        size += batch.nbytes
        if size > max(limit, _COMPACT_BYTES):
            rows = _keep_newest(rows, key)
            size = sum(batch.nbytes for batch in rows)
            limit = 2 * size
    yield from _keep_newest(rows, key)


def _keep_newest(rows: Sequence[pa.RecordBatch], key: str) -> list[pa.RecordBatch]:
    if not rows:
        return []
    table = pa.Table.from_batches(rows)
    newest = table.select([key, "revision"]).group_by(key).aggregate([("revision", "max")])
    newest_rows = table.filter(pc.is_in(table["revision"], newest["revision_max"]))
    return list(newest_rows.to_batches(max_chunksize=8192))


def _build_bucket_column(stream: str, prefix: str, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(stream.removeprefix(prefix), pa.string()), count)


def _parse_key(subject: bytes | str) -> str:
    text = subject.decode(errors="replace") if isinstance(subject, bytes) else subject
    return text.split(".", 2)[-1]  # a mirror has the subjects of its origin, whose bucket has another name


def _find_operation(block: bytes | None) -> str:
    for line in (block or b"").split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        text = value.strip().decode(errors="replace")
        if name.lower() == b"kv-operation":
            return _OPERATIONS.get(text.upper(), "put")
        if name.lower() == b"nats-marker-reason":
            return _MARKERS.get(text.lower(), "purge")
    return "put"


def _decode_object(payload: bytes) -> dict[str, Any]:
    """Return the client's description of an object, without members of an unexpected type."""
    try:
        info: Json = parse_json(payload)
        link = (info.get("options") or {}).get("link") or {}
        place = "/".join(str(part) for part in (link.get("bucket"), link.get("name")) if part)
        return {
            "name": _to_text(info.get("name")),
            "description": _to_text(info.get("description")),
            "size": _to_number(info.get("size")),
            "chunks": _to_number(info.get("chunks")),
            "digest": _to_text(info.get("digest")),
            "metadata": [(str(key), str(value)) for key, value in (info.get("metadata") or {}).items()],
            "link": place or None,
            "operation": "delete" if info.get("deleted") else "put",
        }
    except (ValueError, AttributeError, RecursionError):  # not written by a client of object buckets
        return {"operation": "put"}


def _to_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _to_number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63 else None
