"""Validation of JSON against the schemas of `catalog`, for the part of draft 7 that these use."""

import binascii
from collections.abc import Iterator
from typing import Any

from jsctl.units import parse_time_ns

Json = dict[str, Any]

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}
_WORDS = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}


_MAX_KEY = 100  #: characters of a key in an error


def validate(value: Any, schema: Json) -> list[str]:
    """Return what is wrong with a value, as `find_errors` does; empty when it is valid."""
    return list(find_errors(value, schema))


def find_errors(value: Any, schema: Json) -> Iterator[str]:
    """Yield what is wrong with a value, one sentence each, with the place in it; nothing when it is valid.

    Keys are foreign text, also with line ends.
    """
    return _errors(value, schema, schema, "")


def _errors(value: Any, schema: Json, root: Json, path: str) -> Iterator[str]:
    if reference := schema.get("$ref"):
        yield from _errors(value, root["definitions"][reference.rpartition("/")[2]], root, path)
        return
    where = path or "the document"
    if "if" in schema:
        branch = "else" if any(_errors(value, schema["if"], root, path)) else "then"
        yield from _errors(value, schema[branch], root, path)
        return
    if options := schema.get("anyOf"):
        if all(any(_errors(value, option, root, path)) for option in options):
            yield from _errors(value, options[0], root, path)
        return
    if "const" in schema and value != schema["const"]:
        yield f"{where} is {_shown(value)}, not {_shown(schema['const'])}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} is {_shown(value)}, not one of {', '.join(filter(None, schema['enum']))}"
    if kinds := schema.get("type"):
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if not any(_is(value, kind) for kind in kinds):
            yield f"{where} is {_shown(value)}, not {' or '.join(_WORDS[kind] for kind in kinds)}"
            return
    yield from _scalar_errors(value, schema, where)
    if isinstance(value, dict):
        yield from _object_errors(value, schema, root, path)
    elif isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            yield from _errors(item, schema["items"], root, f"{path}[{number}]")


def _scalar_errors(value: Any, schema: Json, where: str) -> Iterator[str]:
    least = schema.get("minimum")
    if least is not None and _is(value, "number") and value < least:
        yield f"{where} is {value}, at least {least} is possible"
    if not isinstance(value, str):
        return
    if schema.get("format") == "date-time":
        try:
            parse_time_ns(value)
        except (ValueError, OverflowError):
            yield f"{where} is {_shown(value)}, not a time in RFC 3339"
    if schema.get("contentEncoding") == "base64":
        try:
            binascii.a2b_base64(value, strict_mode=bool(value))
        except ValueError:
            yield f"{where} is not base64"


def _object_errors(value: Json, schema: Json, root: Json, path: str) -> Iterator[str]:
    missing = [key for key in schema.get("required", ()) if key not in value]
    if missing:
        yield f"{path or 'the document'} lacks {', '.join(missing)}"
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    for key, item in value.items():
        name = key if len(key) <= _MAX_KEY else f"{key[:_MAX_KEY]}..."
        below = f"{path}.{name}" if path else name
        if key in properties:
            yield from _errors(item, properties[key], root, below)
        elif others is False:
            yield f"{below} is not known"
        elif isinstance(others, dict):
            yield from _errors(item, others, root, below)


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return repr(value[:60])
    return "null" if value is None else str(value).lower()
