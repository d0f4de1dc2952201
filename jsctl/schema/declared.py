"""The JSON schema of declared files, for editors, made from the fields of streams, consumers and buckets."""

from collections.abc import Mapping
from typing import Any

from jsctl.jetstream.config.kind import Kind
from jsctl.jetstream.config.kinds import Choice, ListOf, Map, Switch, Texts
from jsctl.jetstream.config.numbers import Duration, Number, Size
from jsctl.jetstream.config.origins import Origin
from jsctl.jetstream.config.schema import Object, Schema
from jsctl.jetstream.consumer.config import CONSUMER
from jsctl.jetstream.declared.model import BUCKET_KINDS
from jsctl.jetstream.kv.config import BUCKET
from jsctl.jetstream.stream.config import STREAM

Json = dict[str, Any]

NAME = "io.jsctl.v1.declared"
_TEXT: Json = {"type": ["string", "number", "boolean"]}
_VARIABLE: Json = {"type": "string", "pattern": "\\{\\{"}
_LOOP: Json = {"type": "object", "description": "A stream for each: a range such as 0..9, or a list"}
_FLAG: Json = {"anyOf": [{"type": ["boolean", "null"]}, _VARIABLE]}
_NAMED: Json = {"type": ["string", "null"]}
_PLACE: Mapping[str, Json] = {"context": _NAMED, "domain": _NAMED, "account": _NAMED}


def build_schema() -> Json:
    """Return the schema of a file."""
    protection = {
        "allow_data_loss": {**_FLAG, "description": "Whether changes may delete messages"},
        "protect": {**_FLAG, "description": "Neither removed nor purged without --unprotect"},
    }
    consumer = _build_object(CONSUMER, {"for": _LOOP})
    stream = _build_object(
        STREAM,
        {
            "for": _LOOP,
            **_PLACE,
            **protection,
            "renamed_from": {**_TEXT, "description": "The name so far: the stream is copied, then removed"},
            "consumers": {"type": ["array", "null"], "items": consumer},
        },
    )
    buckets = {
        kind.key: {
            "type": ["array", "null"],
            "items": _build_object(
                kind,
                {
                    "for": _LOOP,
                    **_PLACE,
                    **protection,
                    **({"values": {"type": "object"}, "values_from": _TEXT} if kind is BUCKET else {}),
                },
            ),
        }
        for kind in BUCKET_KINDS
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": NAME,
        "description": "Declared streams, as jsctl apply reads them",
        "type": "object",
        "properties": {
            "label": {"type": "string", "description": "Marks what the file creates, for --prune"},
            **_PLACE,
            "vars": {"type": ["object", "null"]},
            "streams": {"type": ["array", "null"], "items": stream},
            **buckets,
            "operators": {"type": ["array", "null"]},
        },
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
    }


def _build_object(kind: Object, more: Mapping[str, Json]) -> Json:
    """Return the schema of an object; that of a noun has descriptions. more: keys that are not part of the
    configuration."""
    is_noun = isinstance(kind, Schema)
    fields = kind.by_key if isinstance(kind, Schema) else {}
    properties = {}
    for name, below in kind.kinds.items():
        field = fields.get(name)
        described = {"description": field.help} if field and field.help else {}
        properties[name] = {**_build_value(below), **described}
    document: Json = {
        "type": "object",
        "properties": {
            **({"name": _TEXT} if is_noun else {}),
            **properties,
            **more,
            "extra": {"type": "object"},
        },
        "additionalProperties": False,
    }
    return {**document, "required": ["name"]} if is_noun or "name" in kind.kinds else document


def _build_value(kind: Kind) -> Json:
    """Return the schema of a value; null removes a key, and any may be a variable."""
    if isinstance(kind, Switch):
        return _FLAG
    if isinstance(kind, Choice):
        words = sorted({*kind.choices, *kind.choices.values()})
        return {"anyOf": [{"enum": [*words, None]}, _VARIABLE]}
    if isinstance(kind, (Duration, Size)):
        return {"type": ["integer", "string", "null"]}
    if isinstance(kind, Number):
        return {"anyOf": [{"type": ["integer", "null"]}, _VARIABLE]}
    if isinstance(kind, Map):
        return {"type": ["object", "null"]}
    if isinstance(kind, Texts):
        return {"type": ["array", "string", "null"], "items": _TEXT}
    if isinstance(kind, ListOf):
        item = _build_value(kind.item)
        return {"anyOf": [{"type": ["array", "null"], "items": item}, item]}
    if isinstance(kind, Origin):
        return {"anyOf": [{"type": ["string", "null"]}, _build_object(kind, {})]}
    if isinstance(kind, Object):
        return {"anyOf": [{"type": "null"}, _build_object(kind, {})]}
    return {"type": [*_TEXT["type"], "null"]}
