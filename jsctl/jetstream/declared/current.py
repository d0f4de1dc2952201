"""Waiting until what is declared is current: leaders, replicas, and copies as far as their origins were."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence

from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.origins import list_origins
from jsctl.jetstream.declared.compare import fetch_stream
from jsctl.jetstream.declared.model import Place, Stream
from jsctl.jetstream.declared.step import Target
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.awaiting import gather_or_cancel

_PAUSE_SECONDS = 0.25


async def wait_until_current(
    declared: Sequence[Stream], targets: Mapping[Place, Target], seconds: float
) -> list[str]:
    """Return once all streams are current, or what is not after `seconds`, a line for each."""
    behind = [f"stream {stream.name}" for stream in declared]
    try:
        async with asyncio.timeout(seconds):
            origins = await gather_or_cancel(
                _fetch_origins(stream, targets[stream.place]) for stream in declared
            )
            while True:
                lines_of_streams = await gather_or_cancel(
                    _find_behind(stream, targets[stream.place], last)
                    for stream, last in zip(declared, origins, strict=True)
                )
                behind = [line for lines in lines_of_streams for line in lines]
                if not behind:
                    return []
                await asyncio.sleep(_PAUSE_SECONDS)
    except TimeoutError:
        return behind


async def _fetch_origins(stream: Stream, target: Target) -> dict[str, int]:
    """Return the last sequence of the origin of a mirror at the start, by name; empty if it cannot be
    compared, as the messages of sources get other sequences."""
    info = await fetch_stream(target, stream.name)
    mirror = (info or {"config": {}})["config"].get("mirror")
    if not mirror or mirror.get("filter_subject") or mirror.get("subject_transforms"):
        return {}
    prefix = str((mirror.get("external") or {}).get("api") or "")
    api = Api(target.api.connection, prefix=prefix) if prefix else target.api
    try:
        origin = await streams.fetch_info(api, str(mirror["name"]))
    except JsctlError:
        return {}  # of another account, or not there
    return {str(mirror["name"]): int(origin["state"]["last_seq"])}


async def _find_behind(stream: Stream, target: Target, origins: Mapping[str, int]) -> list[str]:
    info = await fetch_stream(target, stream.name)
    if info is None:
        return [f"stream {stream.name} does not exist"]
    return [f"stream {stream.name}: {text}" for text in _iterate_behind(info, origins)]


def _iterate_behind(info: Json, origins: Mapping[str, int]) -> Iterator[str]:
    cluster = info.get("cluster")
    if cluster:
        if not cluster.get("leader"):
            yield "no leader"
        for replica in cluster.get("replicas") or ():
            if replica.get("offline") or not replica.get("current") or int(replica.get("lag") or 0):
                yield f"replica {replica['name']} is not current"
    copies = [info.get("mirror"), *(info.get("sources") or ())]
    for copy in [each for each in copies if each]:
        name = str(copy["name"])
        if int(copy.get("active", -1)) < 0:
            yield f"{name} has not answered yet"
        elif int(copy.get("lag") or 0):
            yield f"{copy['lag']} messages behind {name}"
        elif int(info["state"]["last_seq"]) < origins.get(name, 0):
            yield f"behind {name}: at {info['state']['last_seq']} of {origins[name]}"
    if not [each for each in copies if each] and list_origins(info["config"]):
        yield "its origins are not connected yet"
