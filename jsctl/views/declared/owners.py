"""`diff --owners`."""

from collections.abc import Sequence
from operator import attrgetter

from jsctl.jetstream.config.kind import Kind
from jsctl.jetstream.declared.owners import OwnedKey
from jsctl.views.result import Cell, Column, Result, Table, build_cells

_COLUMNS = (
    Column("Stream", "stream"),
    Column("Consumer", "consumer"),
    Column("Key", "key"),
    # As files have it.
    Column(
        "Value", "value", "prose", read=lambda key: Cell(key.value, Kind().format(key.kind.write(key.value)))
    ),
    Column("Label", "label"),
    Column("Declared", "at", read=attrgetter("position")),
)


def owners_result(keys: Sequence[OwnedKey]) -> Result:
    """Show the keys of streams and consumers, with the label that owns them and the line that declares
    them."""
    rows = build_cells(keys, _COLUMNS)
    return Result([Table("Owners", _COLUMNS, rows, optional=("consumer", "label"))])
