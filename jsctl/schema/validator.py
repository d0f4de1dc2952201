"""Validation of JSON against the schemas of `catalog`, for the part of draft 7 that these use."""

import binascii
import re
from collections.abc import Iterator
from typing import Any

from jsctl.base.units import parse_time_ns

Json = dict[str, Any]

_TYPES: dict[str, tuple[str, tuple[type, ...]]] = {
    "string": ("a text", (str,)),
    "integer": ("a whole number", (int,)),
    "number": ("a number", (int, float)),
    "boolean": ("true or false", (bool,)),
    "object": ("an object", (dict,)),
    "array": ("a list", (list,)),
    "null": ("null", (type(None),)),
}
"""Each type with the words for it and its classes."""

_MAX_KEY = 100  #: characters of a key in an error


def validate(value: Any, schema: Json) -> list[str]:
    """Return the errors of `find_errors` as a list; empty for a valid value."""
    return list(find_errors(value, schema))


def find_errors(value: Any, schema: Json) -> Iterator[str]:
    """Yield the errors of a value, one sentence each, with the place in the value.

    Keys in the sentences come from the value and may contain line breaks.
    """
    return _find_errors(value, schema, schema, "")


def _find_errors(value: Any, schema: Json, root: Json, path: str) -> Iterator[str]:
    if reference := schema.get("$ref"):
        yield from _find_errors(value, root["definitions"][reference.rpartition("/")[2]], root, path)
        return
    place = path or "the document"
    if "if" in schema:
        branch = "else" if any(_find_errors(value, schema["if"], root, path)) else "then"
        yield from _find_errors(value, schema[branch], root, path)
        return
    if options := schema.get("anyOf"):
        if all(any(_find_errors(value, option, root, path)) for option in options):
            yield from _find_errors(value, options[0], root, path)
        return
    if "const" in schema and value != schema["const"]:
        yield f"{place} is {_format_value(value)}, not {_format_value(schema['const'])}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place} is {_format_value(value)}, not one of {', '.join(filter(None, schema['enum']))}"
    if kinds := schema.get("type"):
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if not any(_has_type(value, kind) for kind in kinds):
            yield f"{place} is {_format_value(value)}, not {' or '.join(_TYPES[kind][0] for kind in kinds)}"
            return
    yield from _find_scalar_errors(value, schema, place)
    if isinstance(value, dict):
        yield from _find_object_errors(value, schema, root, path)
    elif isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            yield from _find_errors(item, schema["items"], root, f"{path}[{number}]")


def _find_scalar_errors(value: Any, schema: Json, place: str) -> Iterator[str]:
    least = schema.get("minimum")
    if least is not None and _has_type(value, "number") and value < least:
        yield f"{place} is {value}, but must be at least {least}"
    if not isinstance(value, str):
        return
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{place} is {_format_value(value)}, which {schema['pattern']} does not match"
    if schema.get("format") == "date-time":
        try:
            parse_time_ns(value)
        except (ValueError, OverflowError):
            yield f"{place} is {_format_value(value)}, not a time in RFC 3339"
    if schema.get("contentEncoding") == "base64":
        try:
            binascii.a2b_base64(value, strict_mode=bool(value))
        except ValueError:
            yield f"{place} is not base64"


def _find_object_errors(value: Json, schema: Json, root: Json, path: str) -> Iterator[str]:
    missing = [key for key in schema.get("required", ()) if key not in value]
    if missing:
        yield f"{path or 'the document'} lacks {', '.join(missing)}"
    properties = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    additional = schema.get("additionalProperties", True)
    for key, item in value.items():
        name = key if len(key) <= _MAX_KEY else f"{key[:_MAX_KEY]}..."
        member_path = f"{path}.{name}" if path else name
        matching = [below for pattern, below in patterns.items() if re.search(pattern, key)]
        if key in properties or matching:
            for below in [properties[key]] if key in properties else matching:
                yield from _find_errors(item, below, root, member_path)
        elif additional is False:
            yield f"{member_path} is unknown"
        elif isinstance(additional, dict):
            yield from _find_errors(item, additional, root, member_path)


def _has_type(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind][1])


def _format_value(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return repr(value[:60])
    return "null" if value is None else str(value).lower()
