"""Who owns the keys of streams and consumers: the files that name them, another label, or nobody."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jsctl.base.loops import gather
from jsctl.jetstream.api import Json
from jsctl.jetstream.config.differences import find_differences
from jsctl.jetstream.config.kind import Kind
from jsctl.jetstream.config.schema import Schema
from jsctl.jetstream.consumer.config import CONSUMER
from jsctl.jetstream.declared.compare import fetch_consumer, fetch_stream
from jsctl.jetstream.declared.model import LABEL, Consumer, Declared, Place, Stream, get_label
from jsctl.jetstream.declared.step import Target
from jsctl.jetstream.stream.config import STREAM


class OwnedKey(NamedTuple):
    """A key of a stream or consumer that differs from the default. label: of the owner of the whole; empty
    for none. position: file:line if a file names the key."""

    stream: str
    consumer: str
    key: str
    value: Any
    kind: Kind
    label: str
    position: str


async def fetch_owners(declared: Declared, targets: Mapping[Place, Target]) -> list[OwnedKey]:
    """Return the keys of all streams and consumers that files declare and that exist. Raises what requests
    raise."""
    owned = await gather(_fetch(stream, targets[stream.place]) for stream in declared.streams)
    return [key for keys in owned for key in keys]


async def _fetch(stream: Stream, target: Target) -> list[OwnedKey]:
    info = await fetch_stream(target, stream.name)
    if info is None:
        return []
    config = stream.kind.from_stream(info["config"]) if stream.kind else info["config"]
    keys = list(_iterate_keys(stream.kind or STREAM, config, stream, stream.name, ""))
    for consumer in stream.consumers:
        consumer_info = await fetch_consumer(target, stream.name, consumer.name)
        if consumer_info:
            live = consumer_info["config"]
            keys += _iterate_keys(CONSUMER, live, consumer, stream.name, consumer.name)
    return keys


def _iterate_keys(
    schema: Schema, live: Json, item: Stream | Consumer, stream: str, consumer: str
) -> Iterator[OwnedKey]:
    config = schema.without_server_keys(live)
    named = {change.key for change in find_differences({}, item.config, schema)}
    for change in find_differences({}, config, schema):
        if change.key in ("name", "durable_name", f"metadata.{LABEL}"):
            continue
        position = item.position if change.key in named else ""
        yield OwnedKey(stream, consumer, change.key, change.after, change.kind, get_label(live), position)
