"""JSON schemas (draft 7) of JetStream's messages, made from the definitions that come with jsctl."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jsctl import registry
from jsctl.errors import NotFound
from jsctl.patterns import compile_pattern

Json = dict[str, Any]

_DRAFT = "http://json-schema.org/draft-07/schema#"
_KINDS: Mapping[str, Json] = {
    "text": {"type": "string"},
    "int": {"type": "integer"},
    "natural": {"type": "integer", "minimum": 0},
    "size": {"type": "integer", "minimum": -1},
    "ns": {"type": "integer", "minimum": 0, "$comment": "nanoseconds"},
    "real": {"type": "number"},
    "bool": {"type": "boolean"},
    "time": {"type": "string", "format": "date-time"},
    "base64": {"type": "string", "contentEncoding": "base64"},
    "any": {},
}
_GROUPS = ("requests", "responses", "others", "events")


def list_names(environ: Mapping[str, str] | None = None) -> list[str]:
    """Return the names of all schemas, sorted. environ: unused here; the names of other nouns need it."""
    return sorted(name for name, _, _ in _messages())


def search(pattern: str) -> list[str]:
    """Return the names that a regular expression matches. Raises BadInput."""
    regex = compile_pattern(pattern, re.IGNORECASE)
    return [name for name in list_names() if regex.search(name)]


def resolve(name: str) -> str:
    """Return the full name of a schema; its last part is enough where only one ends so. Raises NotFound."""
    known = list_names()
    if name in known:
        return name
    matching = [candidate for candidate in known if candidate.rpartition(".")[2] == name]
    if len(matching) != 1:
        short = [candidate.rpartition(".")[2] for candidate in known]
        raise NotFound(*registry.find_noun("schema").missing(name, existing=[*known, *short]))
    return matching[0]


@cache
def load_schema(name: str) -> Json:
    """Return a schema by its full name, with every type that it refers to. Raises KeyError."""
    group, definition = next((group, message) for key, group, message in _messages() if key == name)
    types = _definitions()["types"]
    document = _object({"closed": True, **definition} if group == "requests" else definition, types)
    used = _referred(document, types)
    about = definition["about"]
    titled = {"$schema": _DRAFT, "title": name, "description": _describe(group, about)}
    if group in ("responses", "events"):
        document["properties"] = {"type": {"const": name}, **document["properties"]}
        document["required"] = ["type", *document.get("required", ())]
    if group == "responses":
        failed = {
            "type": "object",
            "required": ["type", "error"],
            "properties": {"type": {"const": name}, "error": {"$ref": "#/definitions/Error"}},
        }
        used |= _referred(failed, types)
        document = {"type": "object", "if": {"required": ["error"]}, "then": failed, "else": document}
    definitions = {key: used[key] for key in sorted(used)}
    return {**titled, **document, **({"definitions": definitions} if definitions else {})}


def _describe(group: str, about: str) -> str:
    match group:
        case "responses":
            return f"The answer about {about}"
        case "events":
            return f"The server reports {about}"
        case "requests" if about.split()[0].endswith("s"):
            return f"A request that {about}"
        case _:
            return about[0].upper() + about[1:]


def _messages() -> Iterator[tuple[str, str, Json]]:
    """Yield name, group and definition of all messages."""
    for group in _GROUPS:
        for prefix, messages in _definitions()[group].items():
            for name, definition in messages.items():
                yield f"{prefix}.{name}", group, definition


@cache
def _definitions() -> Json:
    import yaml

    text = files("jsctl.schema").joinpath("definitions.yaml").read_text()
    document: Json = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return document


def _object(definition: Json, types: Mapping[str, Json]) -> Json:
    """Return the schema of a type or message."""
    fields, closed, noun = _flattened(definition, types)
    described = _field_help(noun) if noun else {}
    properties = {}
    for key, kind in fields.items():
        name = key.rstrip("!")
        properties[name] = _kind(kind, types)
        if name in described and "$ref" not in properties[name]:
            properties[name] = {**properties[name], "description": described[name]}
    schema: Json = {"type": "object", "properties": properties}
    if required := [key[:-1] for key in fields if key.endswith("!")]:
        schema["required"] = required
    if closed:
        schema["additionalProperties"] = False
    return schema


def _flattened(definition: Json, types: Mapping[str, Json]) -> tuple[dict[str, str], bool, str]:
    """Return the fields, whether there are no others, and the noun whose flags describe them."""
    fields: dict[str, str] = {}
    noun = str(definition.get("describes") or "")
    closed = bool(definition.get("closed"))
    if parent := definition.get("extends"):
        fields, parent_closed, parent_noun = _flattened(types[parent], types)
        closed = closed or (parent_closed and not definition.get("open"))
        noun = noun or parent_noun
    return {**fields, **(definition.get("fields") or {})}, closed, noun


def _field_help(noun: str) -> dict[str, str]:
    """Return what the help of a noun's flags says about the keys of its configuration."""
    from jsctl.jetstream.consumer.fields import FIELDS as CONSUMER_FIELDS
    from jsctl.jetstream.stream.fields import FIELDS as STREAM_FIELDS

    fields = STREAM_FIELDS if noun == "stream" else CONSUMER_FIELDS
    return {field.key: field.help for field in fields if field.help and "." not in field.key}


def _kind(kind: str, types: Mapping[str, Json]) -> Json:
    if kind.endswith("?"):
        schema = _kind(kind[:-1], types)
        if isinstance(schema.get("type"), str):
            return {**schema, "type": [schema["type"], "null"]}
        return {"anyOf": [schema, {"type": "null"}]}
    if kind.startswith("["):
        return {"type": "array", "items": _kind(kind[1:-1], types)}
    if kind.startswith("{"):
        return {"type": "object", "additionalProperties": _kind(kind[1:-1], types)}
    if "|" in kind:
        return {"enum": kind.split("|")}
    if kind in types:
        return {"$ref": f"#/definitions/{kind}"}
    return dict(_KINDS[kind])


def _referred(schema: Json, types: Mapping[str, Json]) -> Json:
    """Return the types that a schema refers to, directly or through others."""
    used: Json = {}
    waiting = list(_references(schema))
    while waiting:
        name = waiting.pop()
        if name not in used:
            used[name] = _object(types[name], types)
            waiting += _references(used[name])
    return used


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(reference := value.get("$ref"), str):
            yield reference.rpartition("/")[2]
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)
