"""The schema of a stream's messages, and messages as Arrow batches.

| column    | Spark type                                 |                                               |
|-----------|--------------------------------------------|-----------------------------------------------|
| stream    | string                                     | its name                                      |
| subject   | string                                     | bytes that are not UTF-8 become U+FFFD         |
| sequence  | long                                       | in the stream                                 |
| timestamp | timestamp                                  | when the server took it, UTC, cut to the µs   |
| data      | binary                                     | the payload                                   |
| headers   | array of struct(key string, value binary)  | with includeHeaders; null where there is none |
"""

from collections.abc import Sequence

import pyarrow as pa

from jsctl.spark.reader import Chunk

_TIME = pa.timestamp("us", tz="UTC")
_PAIR = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
_HEADERS = pa.list_(pa.field("element", _PAIR))

_SCHEMA = pa.schema(
    [
        pa.field("stream", pa.string()),
        pa.field("subject", pa.string()),
        pa.field("sequence", pa.int64()),
        pa.field("timestamp", _TIME),
        pa.field("data", pa.binary()),
    ]
)


def batch(stream: str, chunks: Sequence[Chunk], headers: bool) -> pa.RecordBatch:
    """Messages as one Arrow batch, in the schema above."""
    subjects, sequences, times = zip(*(row for chunk in chunks for row in chunk.rows), strict=True)
    columns = [
        pa.repeat(pa.scalar(stream, pa.string()), len(subjects)),
        _text(subjects),
        pa.array(sequences, pa.string()).cast(pa.int64()),
        _times(times).cast(_TIME, safe=False),
        pa.array([payload for chunk in chunks for payload in chunk.payloads], pa.binary()),
    ]
    if not headers:
        return pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)
    found = [pairs(chunk.headers.get(row)) for chunk in chunks for row in range(len(chunk.rows))]
    columns.append(pa.array(found, _HEADERS))
    return pa.RecordBatch.from_arrays(columns, schema=_SCHEMA.append(pa.field("headers", _HEADERS)))


def pairs(raw: bytes | None) -> list[tuple[str, bytes]] | None:
    """Header lines as (key, value), in order and with duplicates; None without any."""
    if raw is None:
        return None
    found = []
    for line in raw.split(b"\r\n")[1:]:
        key, colon, value = line.partition(b":")
        if colon:
            found.append((key.decode(errors="replace"), value.strip(b" \t")))
    return found or None


def _text(values: Sequence[bytes]) -> pa.Array:
    try:
        return pa.array(values, pa.string())
    except pa.ArrowInvalid:
        return pa.array([value.decode(errors="replace") for value in values], pa.string())


def _times(values: Sequence[bytes]) -> pa.Array:
    """From RFC 3339 (direct get) or ns since the epoch (consumers), in ns."""
    kind = pa.timestamp("ns", tz="UTC")
    texts = pa.array(values, pa.string())
    return texts.cast(kind) if b"-" in values[0] else texts.cast(pa.int64()).cast(kind)
