"""Configurations as people see them: the lines of an info page, and changes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from jsctl.jetstream.config.kind import Json, Kind
from jsctl.jetstream.config.kinds import Choice, Switch, Texts
from jsctl.jetstream.config.numbers import Number
from jsctl.jetstream.config.schema import Schema, get_value
from jsctl.views import result
from jsctl.views.result import Column, Result, Table

if TYPE_CHECKING:
    from jsctl.jetstream.config.differences import Difference
    from jsctl.jetstream.message.data_loss import DataLoss

_COLUMNS = (
    Column("Key", "key"),
    Column("Before", "before", "prose"),
    Column("After", "after", "prose"),
    Column("Deletes", "deletes", "prose", optional=True),
)


def list_other_labels(schema: Schema, *keys: str) -> list[str]:
    """Return the keys that have a label for info pages, besides these, in the order of the fields."""
    return [field.key for field in schema.fields if field.label and field.key not in keys]


def config_lines(schema: Schema, config: Json, *keys: str, with_defaults: bool = True) -> list[result.Field]:
    """Return the lines of an info page for these keys, with the labels of their fields.

    A key without a value is left out where its field has no default, or without `with_defaults`.
    """
    lines = []
    for key in keys:
        field = schema.by_key[key]
        value = _build_value(
            field.kind, get_value(config, field.path), field.default if with_defaults else None
        )
        if value is not None and value != "":
            lines.append(result.Field(field.label, value, cast(result.Kind, field.kind.shown_as)))
    return lines


def changes_result(changes: "Sequence[Difference]", losses: "Sequence[DataLoss]") -> Result:
    """Show what would change, key by key. losses: what each change deletes by itself."""
    rows = [
        (
            change.key,
            format_value(change.kind, change.before),
            format_value(change.kind, change.after),
            str(loss) if loss else "",
        )
        for change, loss in zip(changes, losses, strict=True)
    ]
    data = [{**change.to_json(), **loss.to_json()} for change, loss in zip(changes, losses, strict=True)]
    return Result([Table("Changes", _COLUMNS, rows)], data=data)


def format_change(change: "Difference") -> str:
    """Format a change: `max_age: 0s -> 30d0h0m0s`."""
    before, after = format_value(change.kind, change.before), format_value(change.kind, change.after)
    return f"{change.key}: {before} -> {after}"


def format_value(kind: Kind, value: Any) -> str:
    """Format a value for people; None is not set."""
    return "(not set)" if value is None else kind.format(value)


def _build_value(kind: Kind, value: Any, default: Any) -> Any:
    """Return the value as an info page shows it; None leaves the line out."""
    if not value or (isinstance(kind, Number) and value < 1):
        value = default
    if value is None:
        return None
    if isinstance(kind, Choice):
        return kind.describe(str(value))
    if isinstance(kind, Switch):
        return kind.to_shown(value)
    return ", ".join(value) if isinstance(kind, Texts) else value
