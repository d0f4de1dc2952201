"""Known keys of streams and consumers, and how declared values become the server's.

Beside the raw JSON values, durations, sizes and choices may be written as flags take them.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jsctl.errors import BadInput
from jsctl.jetstream.config import fields as stream_fields
from jsctl.jetstream.config.fields import Field
from jsctl.jetstream.consumer import config as consumer_config
from jsctl.jetstream.declared.nodes import Node
from jsctl.jetstream.stream.origins import parse_origin
from jsctl.nats.subjects import check_name, is_subject, split_subjects
from jsctl.units import format_rfc3339, parse_bytes, parse_duration

Json = dict[str, Any]
Read = Callable[[Node, str], Any]
Keys = Mapping[str, Read]


def stream(node: Node, own: frozenset[str]) -> Json:
    """A stream's configuration from a declared one, without its `own` keys. Raises BadInput."""
    return _object(node, "a stream", STREAM, own, stream_fields.FIELDS)


def consumer(node: Node, own: frozenset[str]) -> Json:
    """A consumer's configuration, likewise."""
    return _object(node, "a consumer", CONSUMER, own, consumer_config.FIELDS)


def _object(node: Node, what: str, keys: Keys, own: frozenset[str], fields: Sequence[Field]) -> Json:
    made: Json = {}
    for key, value in node.keys(what).items():
        if key in own:
            continue
        if key not in keys:
            raise value.error(f"unknown key {key!r} of {what}", _near(key, [*keys, *own], fields))
        made[key] = None if value.value is None else keys[key](value, key)
    extra = node.value.get("extra")
    return merge(made, extra.plain(), keep_none=True) if extra and extra.keys("extra") else made


def merge(below: Json, above: Mapping[str, Any], *, keep_none: bool = False) -> Json:
    """`above` laid over `below`, objects key by key; None takes a key away, or with keep_none stays."""
    made = dict(below)
    for key, value in above.items():
        if isinstance(value, dict) and (isinstance(made.get(key), dict) or not keep_none):
            inner = merge(made.get(key) or {}, value, keep_none=keep_none)
            made[key] = inner
            if not inner and value and not keep_none:
                del made[key]
        elif value is None and not keep_none:
            made.pop(key, None)
        else:
            made[key] = value
    return made


def inner_keys(key: str) -> frozenset[str]:
    """Known keys of the objects at this key of a stream or consumer; empty where any may be."""
    return frozenset(_NESTED.get(key, ()))


def _near(key: str, known: Sequence[str], fields: Sequence[Field]) -> str:
    flag = next((field for field in fields if field.flag == key.replace("_", "-").lower()), None)
    if flag:
        return f"it is {'.'.join(flag.path)} here"
    near = difflib.get_close_matches(key, known, n=1)
    newer = "a key that is newer than jsctl goes below `extra:`"
    return f"did you mean {near[0]!r}? {newer}" if near else newer


def _text(node: Node, key: str) -> str:
    return node.string(key)


def _switch(node: Node, key: str) -> bool:
    if not isinstance(node.value, bool):
        raise node.error(f"{key} is true or false, not {node.plain()!r}")
    return node.value


def _number(least: int | None = None) -> Read:
    def read(node: Node, key: str) -> int:
        if not isinstance(node.value, int) or isinstance(node.value, bool):
            raise node.error(f"{key} is a whole number, not {node.plain()!r}")
        if least is not None and node.value < least:
            raise node.error(f"{key} is at least {least}, not {node.value}")
        return node.value

    return read


def _unit(parse: Callable[[str], int], none: int) -> Read:
    """none: what `-1` means to the server."""

    def read(node: Node, key: str) -> int:
        if isinstance(node.value, bool) or not isinstance(node.value, (int, str)):
            raise node.error(f"{key}: {node.plain()!r} is no number with a unit")
        if node.text == "-1":
            return none
        if isinstance(node.value, int):
            size: int = _number(0)(node, key)
            return size
        try:
            found = parse(node.value)
        except ValueError as error:
            raise node.error(f"{key}: {error}") from None
        return none if found < 0 else found

    return read


_span = _unit(parse_duration, 0)
_size = _unit(parse_bytes, -1)


def _choice(choices: Mapping[str, str]) -> Read:
    def read(node: Node, key: str) -> str:
        said = node.string(key).lower()
        if said not in choices:
            known = ", ".join(dict.fromkeys(choices.values()))
            raise node.error(f"{key} is one of {known}, not {node.text!r}")
        return choices[said]

    return read


def _texts(node: Node, key: str) -> list[str]:
    nodes = node.value if isinstance(node.value, list) else [node]
    return [one.string(f"each of {key}") for one in nodes]


def _subjects(node: Node, key: str) -> list[str]:
    found = []
    for one in node.value if isinstance(node.value, list) else [node]:
        for subject in split_subjects([one.string(f"each of {key}")]):
            if not is_subject(subject):
                raise one.error(f"{key}: {subject!r} is no subject")
            found.append(subject)
    return found


def _subject(node: Node, key: str) -> str:
    text = node.string(key)
    if text and not is_subject(text):
        raise node.error(f"{key}: {text!r} is no subject")
    return text


def _metadata(node: Node, key: str) -> dict[str, str | None]:
    """Values are texts; what the server owns is left to it."""
    found = node.keys(key).items()
    return {
        name: None if value.value is None else value.string(f"{key}.{name}")
        for name, value in found
        if not name.startswith("_nats.")
    }


def _moment(node: Node, key: str) -> str:
    """As the server writes times: UTC, no zeros at the end of a fraction."""
    try:
        return format_rfc3339(node.string(key))
    except ValueError:
        raise node.error(f"{key}: {node.text!r} is not a time such as 2026-11-21T06:57:05Z") from None


def _nested(keys: Keys, *needs: str) -> Read:
    def read(node: Node, key: str) -> Json:
        found = _object(node, key, keys, frozenset({"extra"}), ())
        for one in needs:
            if not found.get(one):
                raise node.error(f"{key} needs {one}")
        return found

    return read


def _list_of(read: Read) -> Read:
    def each(node: Node, key: str) -> list[Any]:
        found = [read(one, key) for one in (node.value if isinstance(node.value, list) else [node])]
        return [merge({}, one) for one in found]

    return each


def _origin(node: Node, key: str) -> Json:
    """As flags write it, or an object."""
    if not isinstance(node.value, dict):
        try:
            return parse_origin(node.string(key))
        except BadInput as error:
            raise node.error(error.message, error.hint) from None
    found: Json = _nested(_ORIGIN, "name")(node, key)
    _named(node.value["name"], str(found["name"]), "stream")
    return found


def _named(node: Node, name: str, what: str) -> str:
    try:
        return check_name(name, what)
    except ValueError as error:
        raise node.error(str(error)) from None


def name_of(node: Node, what: str) -> str:
    """The declared name. Raises BadInput."""
    found = node.keys(f"a {what}").get("name")
    if found is None:
        raise node.error(f"this {what} has no name")
    return _named(found, found.string("name"), what)


def _spans(node: Node, key: str) -> list[int]:
    return [_span(one, key) for one in node.items(key)]


_TRANSFORM: Keys = {"src": _text, "dest": _text}
_ORIGIN: Keys = {
    "name": _text,
    "opt_start_seq": _number(0),
    "opt_start_time": _moment,
    "filter_subject": _subject,
    "subject_transforms": _list_of(_nested(_TRANSFORM)),
    "external": _nested({"api": _text, "deliver": _text}),
    "consumer": _nested({"name": _text, "deliver_subject": _text}),
}
_PLACEMENT: Keys = {"cluster": _text, "tags": _texts, "preferred": _text}


_KINDS: Mapping[str, Read] = {
    "text": _text,
    "texts": _texts,
    "subjects": _subjects,
    "number": _number(0),
    "integer": _number(),
    "limit": _number(),
    "size": _size,
    "span": _span,
    "switch": _switch,
    "inverse": _switch,
    "map": _metadata,
    "origin": _origin,
    "origins": _list_of(_origin),
}


def _by_kind(field: Field) -> Read:
    if field.kind == "choice":
        return _choice({**field.choices, **{value: value for value in field.choices.values()}})
    return _KINDS[field.kind]


def _inner(fields: Sequence[Field]) -> dict[str, dict[str, Read]]:
    """Readers of keys below others."""
    made: dict[str, dict[str, Read]] = {}
    for field in fields:
        if len(field.path) > 1:
            made.setdefault(field.path[0], {})[field.path[1]] = _by_kind(field)
    return made


# From the tables that the flags are made of.
_NESTED: Mapping[str, Keys] = {
    **_inner(stream_fields.FIELDS),
    "placement": _PLACEMENT,
    "sources": _ORIGIN,
    "mirror": _ORIGIN,
}


def _keys(fields: Sequence[Field]) -> dict[str, Read]:
    """Readers by key."""
    return {
        field.path[0]: _by_kind(field) if len(field.path) == 1 else _nested(_NESTED[field.path[0]])
        for field in fields
    }


STREAM: Keys = {
    "name": _text,
    **_keys(stream_fields.FIELDS),
    "sealed": _switch,
}
_START = ("all", "last", "new", "by_start_sequence", "by_start_time", "last_per_subject")
_PRIORITIES = ("none", "pinned_client", "overflow", "prioritized")
CONSUMER: Keys = {
    "name": _text,
    "durable_name": _text,
    **_keys(consumer_config.FIELDS),
    "filter_subject": _subject,
    "deliver_policy": _choice({one: one for one in _START}),
    "opt_start_seq": _number(1),
    "opt_start_time": _moment,
    "backoff": _spans,
    "sample_freq": _text,
    "pause_until": _moment,
    "priority_policy": _choice({one: one for one in _PRIORITIES}),
    "priority_groups": _texts,
    "direct": _switch,
}
