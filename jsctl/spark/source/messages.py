"""Messages as Arrow batches, and the types of the columns that are made of them."""

from collections.abc import Sequence

import pyarrow as pa

TIME = pa.timestamp("ns", tz="UTC")

SPARK_TIME = pa.timestamp("us", tz="UTC")
_PAIR = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
HEADERS = pa.list_(pa.field("element", _PAIR))

_TYPES = {
    **dict.fromkeys(("sequence", "revision", "size", "chunks"), pa.int64()),
    **dict.fromkeys(("timestamp", "created"), SPARK_TIME),
    **dict.fromkeys(("data", "value"), pa.binary()),
    "headers": HEADERS,
    "metadata": pa.map_(pa.string(), pa.string()),
}
"""Types of the columns that `columns` and `buckets` describe; all others are strings."""

SCHEMA = pa.schema(
    [
        pa.field("subject", pa.binary()),
        pa.field("sequence", pa.int64()),
        pa.field("time", TIME),
        pa.field("data", pa.binary()),
        pa.field("headers", pa.binary()),
    ]
)
"""headers: the stored header block with its line `NATS/1.0`; null, or only that line, without headers."""


def find_type(column: str) -> pa.DataType:
    """Return the type of a column that Spark reads, unless it is one of a decoded payload."""
    return _TYPES.get(column, pa.string())


def build_batch(
    subjects: Sequence[bytes] = (),
    sequences: Sequence[bytes] = (),
    moments: Sequence[bytes] = (),
    payloads: Sequence[bytes] = (),
    headers: Sequence[bytes | None] = (),
) -> pa.RecordBatch:
    """Return messages that were parsed one by one, in SCHEMA. moments: RFC 3339, or ns since the epoch."""
    times = pa.array(moments, pa.string())
    if moments and b"-" not in moments[0]:
        times = times.cast(pa.int64())
    columns = [
        pa.array(subjects, pa.binary()),
        pa.array(sequences, pa.string()).cast(pa.int64()),
        times.cast(TIME),
        pa.array(payloads, pa.binary()),
        pa.array(headers, pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def join_batches(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Join batches of SCHEMA into one."""
    if len(batches) == 1:
        return batches[0]
    joined = pa.Table.from_batches(batches, schema=SCHEMA).combine_chunks().to_batches()
    return joined[0] if joined else build_batch()
