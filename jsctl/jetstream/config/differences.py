"""Differences between two configurations that matter to the server, whatever the form of their values."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jsctl.jetstream.config.kind import Json, Kind
from jsctl.jetstream.config.schema import Schema, get_value


class Difference(NamedTuple):
    """A key, written with dots, and its values; None when one side lacks it."""

    key: str
    before: Any
    after: Any
    kind: Kind

    def to_json(self) -> Json:
        """Return the key and both values as a JSON object, without their kind."""
        before, after = self.kind.mask(self.before), self.kind.mask(self.after)
        return {"key": self.key, "before": before, "after": after}


def find_differences(before: Json, after: Json, schema: Schema) -> list[Difference]:
    """Return the differences between two configurations, by key.

    Lists count as sets, and a missing value equals one that is empty, zero, false or the server's default.
    """
    turned_on = {
        key: True
        for field in schema.fields
        if field.turns_on and get_value(after, field.path)
        for key in field.turns_on
    }
    return list(_walk(schema, "", before, {**after, **turned_on}))


def _walk(
    schema: Schema, path: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[Difference]:
    for key in [*before, *(key for key in after if key not in before)]:
        old_value, new_value = before.get(key), after.get(key)
        if (
            isinstance(old_value or {}, dict)
            and isinstance(new_value or {}, dict)
            and (old_value or new_value)
        ):
            yield from _walk(schema, f"{path}{key}.", old_value or {}, new_value or {})
            continue
        field = schema.by_key.get(path + key)
        kind = schema.find_kind(path + key)
        default = field.default if field else None
        if _normalize(kind, old_value, default) != _normalize(kind, new_value, default):
            yield Difference(path + key, old_value, new_value, kind)


def _normalize(kind: Kind, value: Any, default: Any) -> Any:
    return None if value == default else kind.normalize(value)
