"""The columns that Spark reads, and messages as Arrow batches of them.

| column    | Spark type                                 |                                               |
|-----------|--------------------------------------------|-----------------------------------------------|
| stream    | string                                     | its name                                      |
| subject   | string                                     | bytes that are not UTF-8 become U+FFFD         |
| sequence  | long                                       | in the stream                                 |
| timestamp | timestamp                                  | when the server stored it, UTC, cut to the µs |
| data      | binary                                     | the payload                                   |
| headers   | array of struct(key string, value binary)  | with includeHeaders; null without headers     |

With the option decode, the columns of `spark.decoding.columns` replace `data`.
Buckets have other columns, which `buckets` describes.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from jsctl.spark.source import buckets, messages

if TYPE_CHECKING:
    from jsctl.spark.decoding.columns import PayloadColumns


def build_schema(names: Sequence[str]) -> pa.Schema:
    """Return the schema of the named columns, of messages that are not decoded."""
    return pa.schema([pa.field(name, messages.find_type(name)) for name in names])


def to_spark_batch(
    stream: str,
    batches: Sequence[pa.RecordBatch],
    names: Sequence[str],
    payload: "PayloadColumns | None" = None,
    rows: str = "messages",
) -> pa.RecordBatch:
    """Join batches of messages.SCHEMA into one batch of the named columns.

    payload: makes columns of payloads; None for payloads as they are. rows: as in ReadOptions.
    """
    batch = messages.join_batches(batches)
    if rows == "keys":
        return buckets.build_kv_batch(stream, batch, payload)
    if rows == "objects":
        _, sequences, times, data, _ = batch.columns
        return buckets.build_object_batch(stream, sequences, times, data)
    payload_columns: dict[str, pa.Array] = {}
    if payload and set(names) & set(payload.schema.names):
        payload_columns = dict(zip(payload.schema.names, payload.decode_arrays(batch.column(3)), strict=True))
    columns = [payload_columns[n] if n in payload_columns else _build_column(stream, batch, n) for n in names]
    fields = [pa.field(name, column.type) for name, column in zip(names, columns, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def build_sequence_batch(stream: str, sequences: Sequence[int], names: Sequence[str]) -> pa.RecordBatch:
    """Return a batch of the columns `stream` and `sequence`, if they are named."""
    by_name = {
        "stream": lambda: pa.repeat(pa.scalar(stream, pa.string()), len(sequences)),
        "sequence": lambda: pa.array(sequences, pa.int64()),
    }
    return pa.RecordBatch.from_arrays([by_name[name]() for name in names], schema=build_schema(names))


def _build_column(stream: str, batch: pa.RecordBatch, name: str) -> pa.Array:
    subject, sequence, time, data, raw = batch.columns
    match name:
        case "stream":
            return pa.repeat(pa.scalar(stream, pa.string()), len(sequence))
        case "subject":
            return _decode_text(subject)
        case "sequence":
            return sequence
        case "timestamp":
            return time.cast(messages.SPARK_TIME, safe=False)
        case "data":
            return data
        case _:
            return pa.array(map(parse_headers, raw.to_pylist()), messages.HEADERS)


def parse_headers(raw: bytes | None) -> list[tuple[str, bytes]] | None:
    """Parse a header block into (key, value) pairs, in order and with duplicates; None without headers."""
    if raw is None:
        return None
    pairs = []
    for line in raw.split(b"\r\n")[1:]:
        key, colon, value = line.partition(b":")
        if colon:
            pairs.append((key.decode(errors="replace"), value.strip(b" \t")))
    return pairs or None


def _decode_text(values: pa.Array) -> pa.Array:
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([value.decode(errors="replace") for value in values.to_pylist()], pa.string())
