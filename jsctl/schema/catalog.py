"""JSON schemas (draft 7) of JetStream's messages, made from the definitions that come with jsctl, and of what
its verbs write."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jsctl import registry
from jsctl.base.patterns import compile_pattern
from jsctl.errors import BadInput, NotFound
from jsctl.schema.outputs import build_schema as build_output_schema
from jsctl.schema.outputs import load_outputs

if TYPE_CHECKING:
    from jsctl.jetstream.config.field import Field

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
_DECLARED = "io.jsctl.v1.declared"
_GROUPS = ("requests", "responses", "others", "events")


def list_names(environ: Mapping[str, str] | None = None) -> list[str]:
    """Return the names of all schemas, sorted. environ: unused here; the names of other nouns need it."""
    return sorted({*(name for name, _, _ in _list_messages()), _DECLARED, *load_outputs()})


def search(pattern: str) -> list[str]:
    """Return the names that a regular expression matches. Raises BadInput."""
    regex = compile_pattern(pattern, re.IGNORECASE)
    return [name for name in list_names() if regex.search(name)]


def resolve(name: str) -> str:
    """Return the full name of a schema from its name, or from an unambiguous last part. Raises NotFound, and
    BadInput for the last part of several."""
    names = list_names()
    if name in names:
        return name
    matching = [candidate for candidate in names if candidate.rpartition(".")[2] == name]
    if matching[1:]:
        raise BadInput(f"{name} may be each of {', '.join(matching)}", "write the whole name")
    if not matching:
        last_parts = [candidate.rpartition(".")[2] for candidate in names]
        raise NotFound(*registry.find_noun("schema").missing(name, existing=[*names, *last_parts]))
    return matching[0]


@cache
def load_schema(name: str) -> Json:
    """Return a schema by its full name, with every type that it refers to. Raises KeyError."""
    if name == _DECLARED:
        from jsctl.schema.declared import build_schema

        return build_schema()
    group, definition = next(
        ((group, message) for key, group, message in _list_messages() if key == name), ("", {})
    )
    if not definition:
        return {"$schema": _DRAFT, **build_output_schema(name)}
    types = _load_definitions()["types"]
    document = _build_object({"closed": True, **definition} if group == "requests" else definition, types)
    used = _find_used_types(document, types)
    about = definition["about"]
    titled = {"$schema": _DRAFT, "title": name, "description": _describe(group, about)}
    if group in ("responses", "events"):
        document["properties"] = {"type": {"const": name}, **document["properties"]}
        document["required"] = ["type", *document.get("required", ())]
    if group == "responses":
        failure = {
            "type": "object",
            "required": ["type", "error"],
            "properties": {"type": {"const": name}, "error": {"$ref": "#/definitions/Error"}},
        }
        used |= _find_used_types(failure, types)
        document = {"type": "object", "if": {"required": ["error"]}, "then": failure, "else": document}
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


def _list_messages() -> Iterator[tuple[str, str, Json]]:
    """Yield name, group and definition of all messages."""
    for group in _GROUPS:
        for prefix, messages in _load_definitions()[group].items():
            for name, definition in messages.items():
                yield f"{prefix}.{name}", group, definition


_REPORT_ROWS = {
    "ReportStream": "streams",
    "ReportLink": "replication",
    "ReportConsumer": "consumers",
    "ReportServer": "servers",
    "ReportAccount": "accounts",
}


@cache
def _load_definitions() -> Json:
    import yaml

    from jsctl.monitor.report.figures.lists import list_figures  # only where they are needed
    from jsctl.monitor.report.listings import LISTED

    text = files("jsctl.schema").joinpath("definitions.yaml").read_text()
    document: Json = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    types = document["types"]
    for name, kind in _REPORT_ROWS.items():
        figures = {f"{figure.key}!": figure.kind for figure in list_figures(kind)}
        types[name] = {"closed": True, "fields": figures}
    for part, listed in LISTED.items():
        name = f"Report{listed.title[:-1].replace(' ', '')}"
        types[name] = {"closed": True, "fields": {f"{key}!": kind for key, kind in listed.kinds.items()}}
        types["ReportPlace"]["fields"][part] = f"[{name}]?"
    types["ReportGap"]["fields"]["part!"] += f"|{'|'.join(LISTED)}"
    return document


def _build_object(definition: Json, types: Mapping[str, Json]) -> Json:
    """Return the schema of a type or message."""
    fields, closed, described = _flatten(definition, types)
    properties = {}
    for key, kind in fields.items():
        name = key.rstrip("!")
        properties[name] = _build_kind(kind, types)
        if name in described and "$ref" not in properties[name]:
            properties[name] = {**properties[name], "description": described[name]}
    schema: Json = {"type": "object", "properties": properties}
    if required := [key[:-1] for key in fields if key.endswith("!")]:  # SCHEMA_REQUIRED
        schema["required"] = required
    if closed:
        schema["additionalProperties"] = False
    return schema


def _flatten(definition: Json, types: Mapping[str, Json]) -> tuple[dict[str, str], bool, dict[str, str]]:
    """Return the fields, whether others are excluded, and the descriptions of fields that have one."""
    inherited, closed, described = _flatten_parent(definition, types)
    fields = dict(definition.get("fields") or {})
    if path := definition.get("describes"):
        keys = _list_keys(path)
        written = {key.rstrip("!") for key in fields}
        fields |= {key: field.kind.schema for key, field in keys.items() if key not in written}
        described = {key: field.help for key, field in keys.items() if field.help}
    return {**inherited, **fields}, closed, described


def _flatten_parent(
    definition: Json, types: Mapping[str, Json]
) -> tuple[dict[str, str], bool, dict[str, str]]:
    closed = bool(definition.get("closed"))
    if not (parent := definition.get("extends")):
        return {}, closed, {}
    fields, parent_closed, described = _flatten(types[parent], types)
    return fields, closed or (parent_closed and not definition.get("open")), described


def _list_keys(path: str) -> "dict[str, Field]":
    """Return the keys of a configuration, or of an object in it, without those that are objects of several
    keys. path: `stream`, `stream.placement`."""
    from jsctl.jetstream.config.consumer_fields import FIELDS as CONSUMER_FIELDS
    from jsctl.jetstream.config.schema import Object
    from jsctl.jetstream.config.stream_fields import FIELDS as STREAM_FIELDS

    noun, *names = path.split(".")
    fields = STREAM_FIELDS if noun == "stream" else CONSUMER_FIELDS
    for name in names:
        kind = Object(fields).kinds[name]
        fields = kind.fields if isinstance(kind, Object) else ()
    return {field.key: field for field in fields if "." not in field.key}


def _build_kind(kind: str, types: Mapping[str, Json]) -> Json:
    if kind.endswith("?"):
        schema = _build_kind(kind[:-1], types)
        if isinstance(schema.get("type"), str):
            return {**schema, "type": [schema["type"], "null"]}
        return {"anyOf": [schema, {"type": "null"}]}
    if kind.startswith("["):
        return {"type": "array", "items": _build_kind(kind[1:-1], types)}
    if kind.startswith("{"):
        return {"type": "object", "additionalProperties": _build_kind(kind[1:-1], types)}
    if "|" in kind:
        return {"enum": kind.split("|")}
    if kind in types:
        return {"$ref": f"#/definitions/{kind}"}
    return dict(_KINDS[kind])


def _find_used_types(schema: Json, types: Mapping[str, Json]) -> Json:
    """Return the types that a schema refers to, directly or through others."""
    used: Json = {}
    waiting = list(_find_references(schema))
    while waiting:
        name = waiting.pop()
        if name not in used:
            used[name] = _build_object(types[name], types)
            waiting += _find_references(used[name])
    return used


def _find_references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(reference := value.get("$ref"), str):
            yield reference.rpartition("/")[2]
        for item in value.values():
            yield from _find_references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _find_references(item)
