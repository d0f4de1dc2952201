"""`diff --owners`."""

from collections.abc import Sequence

from jsctl.jetstream.config.kind import Kind
from jsctl.jetstream.declared.owners import OwnedKey
from jsctl.views.result import Cell, Column, Result, Table

_COLUMNS = (
    Column("Stream", "stream"),
    Column("Consumer", "consumer"),
    Column("Key", "key"),
    Column("Value", "value", "prose"),
    Column("Label", "label"),
    Column("Declared", "at"),
)


def owners_result(keys: Sequence[OwnedKey]) -> Result:
    """Show the keys of streams and consumers, with the label that owns them and the line that declares
    them."""
    rows = [
        (
            key.stream,
            key.consumer,
            key.key,
            Cell(key.value, Kind().format(key.kind.write(key.value))),  # as files say it
            key.label,
            key.position,
        )
        for key in keys
    ]
    return Result([Table("Owners", _COLUMNS, rows, optional=("consumer", "label"))])
