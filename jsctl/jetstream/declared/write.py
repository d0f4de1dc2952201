"""Existing streams and consumers, written as a file that declares them.

Every key that the server has is written, so that a later diff shows every change.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jsctl.base.yaml_text import format_yaml
from jsctl.jetstream.config.differences import find_differences
from jsctl.jetstream.config.kind import Json
from jsctl.jetstream.config.kinds import ListOf
from jsctl.jetstream.config.schema import Object, Schema
from jsctl.jetstream.consumer.config import CONSUMER
from jsctl.jetstream.declared.model import BUCKET_KINDS
from jsctl.jetstream.declared.variables import escape
from jsctl.jetstream.kv.config import BucketSchema
from jsctl.jetstream.stream.config import STREAM

MODELINE = """\
# yaml-language-server: $schema=jsctl-declared.json
# jsctl schema info declared > jsctl-declared.json
"""
"""The lines from which editors learn the schema of the file."""

_LISTS = ("streams", *(kind.key for kind in BUCKET_KINDS))


def declare_stream(config: Json, consumers: Sequence[Json], place: Mapping[str, str]) -> Json:
    """Return a stream for a file, in the server's form. place: `context` and `domain`, if the file names
    them."""
    stripped = STREAM.without_server_keys(config)
    if not stripped.get("mirror"):
        stripped.pop("mirror_direct", None)  # left of a mirror; the server creates no other stream with it
    declared = {"name": stripped["name"], **place, **_split_unknown(stripped, STREAM)}
    if consumers:
        declared["consumers"] = [_declare_consumer(consumer) for consumer in consumers]
    return declared


def declare_bucket(kind: BucketSchema, config: Json, place: Mapping[str, str]) -> Json | None:
    """Return a bucket for a file, in the bucket's own keys; None if these cannot express all of the stream's
    configuration. config: the stream's."""
    stripped = STREAM.without_server_keys(config)
    bucket = kind.from_stream(stripped)
    if kind.find_problems(bucket) or find_differences(stripped, kind.to_stream(bucket, None), STREAM):
        return None
    other_keys = _escape({key: value for key, value in bucket.items() if key != "name"})
    return {"name": bucket["name"], **place, **other_keys}


def render_yaml(document: Json) -> Iterator[str]:
    """Yield a document as YAML, with durations and sizes as people write them, and without control
    characters.

    Each piece is a stream or the text between two, so that many streams take little memory.
    """
    yield MODELINE
    if place := {key: value for key, value in document.items() if key not in _LISTS}:
        yield format_yaml(place)
    yield "streams:\n" if document["streams"] else "streams: []\n"
    for stream in document["streams"]:
        readable = STREAM.write(stream)
        if "consumers" in stream:
            readable["consumers"] = [CONSUMER.write(consumer) for consumer in stream["consumers"]]
        yield format_yaml([readable])
    for kind in BUCKET_KINDS:
        if document.get(kind.key):
            yield f"{kind.key}:\n"
            yield from (format_yaml([kind.write(bucket)]) for bucket in document[kind.key])


def _declare_consumer(config: Json) -> Json:
    stripped = CONSUMER.without_server_keys(config)
    stripped = {"name": stripped["durable_name"], **stripped}
    del stripped["durable_name"]  # it is equal to the name, unless a file sets another
    declared = _split_unknown(stripped, CONSUMER)
    return {"name": stripped["name"], **declared}


def _split_unknown(config: Json, schema: Schema) -> Json:
    """Return the known keys in the order of the help, and the unknown ones, at any depth, below `extra`."""
    top_keys = list(dict.fromkeys(field.path[0] for field in schema.by_flag.values()))
    order = {key: number for number, key in enumerate(top_keys)}
    declared: Json = {}
    extra: Json = {}
    for key in sorted(config, key=lambda key: order.get(key, len(top_keys))):
        value, kind = config[key], schema.kinds.get(key)
        if kind is None:
            extra[key] = value
        elif isinstance(kind, Object) and isinstance(value, dict):
            declared[key], unknown = _split(value, kind)
            if unknown:
                extra[key] = unknown
        elif isinstance(kind, ListOf) and isinstance(kind.item, Object) and isinstance(value, list):
            declared[key] = [_with_extra(item, kind.item) for item in value]
        else:
            declared[key] = value
    declared = _escape(declared)
    return {**declared, "extra": _escape(extra)} if extra else declared


def _with_extra(value: Any, kind: Object) -> Any:
    if not isinstance(value, dict):
        return value
    known, unknown = _split(value, kind)
    return {**known, "extra": unknown} if unknown else known


def _split(value: Json, kind: Object) -> tuple[Json, Json]:
    """Split an object into its known and its unknown keys."""
    known = {name: item for name, item in value.items() if name in kind.kinds}
    return known, {name: item for name, item in value.items() if name not in kind.kinds}


def _escape(value: Any) -> Any:
    """Escape `{{name}}` in all texts of a value: on a server it is plain text."""
    if isinstance(value, dict):
        return {escape(str(key)): _escape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_escape(item) for item in value]
    return escape(value) if isinstance(value, str) else value
