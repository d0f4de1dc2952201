"""Messages in columns, from what the server sends to what readers hand on.

A run of direct get replies is cut by Arrow, column by column, without a step of Python for each message: at a
fifth of the time. It is cut at marks, and then each message's sizes are compared with those that the server
named, so that a payload or a header which holds a mark is noticed. Then, and for anything else, messages are
cut one by one, and become a `batch`.
"""

import functools
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from jsctl.spark.replies import TAIL, Row

TIME = pa.timestamp("ns", tz="UTC")

SCHEMA = pa.schema(
    [
        pa.field("subject", pa.binary()),
        pa.field("sequence", pa.int64()),
        pa.field("time", TIME),
        pa.field("data", pa.binary()),
        pa.field("headers", pa.binary()),
    ]
)
"""headers: the lines as stored, `NATS/1.0` among them; null or that line alone where there are none."""

END = b"\r\n"


def batch(rows: Sequence[Row]) -> pa.RecordBatch:
    """Messages that were cut one by one, in SCHEMA."""
    subjects, sequences, moments, payloads, headers = zip(*rows, strict=True) if rows else ((),) * 5
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


def join(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Batches of SCHEMA as one."""
    if len(batches) == 1:
        return batches[0]
    whole = pa.Table.from_batches(batches, schema=SCHEMA).combine_chunks().to_batches()
    return whole[0] if whole else batch([])


def cut(run: memoryview, mark: bytes, middle: bytes) -> list[tuple[bytes, pa.RecordBatch]] | None:
    """Direct get replies, all of them whole, as messages by request.

    run: begins after a mark, ends before the line end ahead of the next one. mark: how a reply begins, line
    end and inbox. middle: what stands between stored headers and subject. None when there is anything else
    in it than one such message after the other.
    """
    try:
        return _cut(run, mark, middle)
    except pa.ArrowInvalid:  # a number or a time that is none
        return None


def _cut(run: memoryview, mark: bytes, middle: bytes) -> list[tuple[bytes, pa.RecordBatch]] | None:
    offsets = pa.array([0, len(run)], pa.int32()).buffers()[1]
    whole = pa.Array.from_buffers(pa.binary(), 1, [None, offsets, pa.py_buffer(run)])  # without a copy
    pieces = pc.split_pattern(whole, mark).flatten()
    halves = _split(pieces, middle, 2)
    if halves is None:
        return None
    envelope = _split(halves[0], END, 2)
    rest = _split(halves[1], END, len(TAIL) + 3)
    words = _split(envelope[0], b" ", 4) if envelope else None
    if envelope is None or rest is None or words is None:
        return None
    (line, headers), (key, sid, header_size, total) = envelope, words
    subject, *tail, blank, data = rest
    if not all(
        pc.all(pc.starts_with(part, name)).as_py() for part, (name, _) in zip(tail, TAIL, strict=True)
    ):
        return None
    if pc.unique(sid).to_pylist() != [b"1"] or pc.max(pc.binary_length(blank)).as_py():
        return None
    sizes = _number(total)
    lines = pc.subtract(pc.binary_length(pieces), pc.binary_length(line))
    payloads = pc.subtract(sizes, _number(header_size))
    if not (_same(lines, pc.add(sizes, len(END))) and _same(pc.binary_length(data), payloads)):
        return None
    values = {name: _after(part, prefix) for part, (prefix, name) in zip(tail, TAIL, strict=True) if name}
    time = values["time"].cast(pa.string()).cast(TIME)
    columns = [subject, _number(values["sequence"]), time, data, headers]
    batch = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
    keys = pc.unique(key).to_pylist()
    if len(keys) == 1:
        return [(keys[0], batch)]
    return [(one, batch.filter(pc.equal(key, one))) for one in keys]


def _split(values: pa.Array, mark: bytes, parts: int) -> list[pa.Array] | None:
    """Each value cut at the first marks into so many parts, as columns; None unless all have as many."""
    found = pc.split_pattern(values, mark, max_splits=parts - 1).flatten()
    if len(found) != parts * len(values):
        return None
    return [found.take(_every(parts, part, len(values))) for part in range(parts)]


def _every(step: int, first: int, count: int) -> pa.Array:
    return _indices(step, first, 1 << count.bit_length())[:count]


@functools.lru_cache(256)
def _indices(step: int, first: int, count: int) -> pa.Array:
    return pa.array(range(first, first + step * count, step), pa.int32())


def _same(one: pa.Array, other: pa.Array) -> bool:
    return bool(pc.all(pc.equal(one, other)).as_py())


def _after(values: pa.Array, prefix: bytes) -> pa.Array:
    return pc.binary_replace_slice(values, 0, len(prefix), b"")


def _number(values: pa.Array) -> pa.Array:
    return values.cast(pa.string()).cast(pa.int64())
