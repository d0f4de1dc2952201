"""A row of a frame as the parts of a message."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = ("subject", "data", "headers", "msg_id", "stream", "sequence")
"""The columns of a row."""


class Row(NamedTuple):
    """The parts of a message. Each may be None; headers are pairs with "key" and "value". own_headers: those
    that the sink adds."""

    subject: Any
    data: Any
    headers: Any = None
    msg_id: Any = None
    stream: Any = None
    sequence: Any = None
    own_headers: Sequence[tuple[str, bytes]] = ()


def list_batch_rows(batches: "Iterable[pa.RecordBatch]") -> Iterator[Row]:
    """Yield the rows of Arrow batches. Missing columns are None."""
    for values in list_columns(batches, COLUMNS):
        yield Row(*values)


def list_columns(batches: "Iterable[pa.RecordBatch]", names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the values of some columns, row by row. Missing columns are None."""
    for batch in batches:
        there = batch.schema.names
        columns: list[list[Any]] = [
            batch.column(there.index(name)).to_pylist() if name in there else [None] * batch.num_rows
            for name in names
        ]
        yield from zip(*columns, strict=True)
