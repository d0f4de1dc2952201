"""Existing streams and consumers, collected as declarations for `jsctl export config`."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.kind import is_copying
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.declared import write
from jsctl.jetstream.declared.model import find_bucket_kind
from jsctl.jetstream.state import is_silent
from jsctl.jetstream.stream import requests as streams


class Declarations(NamedTuple):
    """Declared streams, with their consumers, in the order of their names.

    missing_streams: streams that the server knows and that did not answer; some are there without their
    consumers. missing_consumers: consumers that
    did not answer or have no durable name. hidden: number of streams of buckets and of the system that were
    left out. buckets: buckets whose streams hold nothing else, in their own keys, by their list's key in a
    file.
    """

    streams: Sequence[Json]
    missing_streams: Sequence[str] = ()
    missing_consumers: Sequence[str] = ()
    hidden: int = 0
    buckets: Mapping[str, Sequence[Json]] = {}


async def collect_declarations(
    api: Api,
    patterns: Sequence[str],
    place: Mapping[str, str],
    *,
    with_internal: bool,
    with_consumers: bool = True,
    infos: dict[str, Json] | None = None,
) -> Declarations:
    """Return the streams whose names match one of the globs `patterns` (all without any) as declarations.

    place: context and domain to write into each declaration. with_internal: include the streams of buckets
    and of the system. infos: receives the infos of these streams. Raises what `Api.call` raises.
    """
    hidden = 0
    silent: list[str] = []

    def extract(info: Json) -> tuple[Json, bool] | None:
        """Return the configuration of a stream to export and whether it has consumers; None for others."""
        name = info["config"]["name"]
        nonlocal hidden
        if patterns and not any(fnmatchcase(name, pattern) for pattern in patterns):
            return None
        if not with_internal and name not in patterns and streams.is_internal(name):
            hidden += 1
            return None
        if is_silent(info):
            silent.append(name)
        if infos is not None:
            infos[name] = info
        return info["config"], bool(info["state"].get("consumer_count"))

    collected = await streams.collect(api, extract)
    names = [name for name, (_, has_consumers) in collected.items.items() if has_consumers]
    listings = await consumers.list_consumers_of_streams(api, sorted(names)) if with_consumers else []
    found = {listing.stream: listing.infos for listing in listings}
    missing_consumers = [name for listing in listings for name in listing.missing]
    declared: list[Json] = []
    buckets: dict[str, list[Json]] = {}
    for name in sorted(collected.items):
        configs = [info["config"] for info in found.get(name, ())]
        missing_consumers += [config["name"] for config in configs if _is_transient(config)]
        key, declaration = declare(collected.items[name][0], configs, place)
        (declared if key == "streams" else buckets.setdefault(key, [])).append(declaration)
    missing = [*collected.missing, *collected.offline, *silent]
    return Declarations(declared, missing, missing_consumers, hidden, buckets)


def declare(config: Json, consumer_configs: Sequence[Json], place: Mapping[str, str]) -> tuple[str, Json]:
    """Return the declaration of a stream, and the key of the list in a file to which it belongs. Consumers
    without a durable name, and those that servers made, are left out."""
    durable = [each for each in consumer_configs if not is_copying(each) and each.get("durable_name")]
    kind = find_bucket_kind(config["name"]) if not durable else None
    bucket = write.declare_bucket(kind, config, place) if kind else None
    if kind and bucket:
        return kind.key, bucket
    return "streams", write.declare_stream(config, durable, place)


def _is_transient(config: Json) -> bool:
    return not is_copying(config) and not config.get("durable_name")
