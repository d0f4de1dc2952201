"""Waiting until what is declared is current: leaders, replicas, and copies as far as their origins were."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence

from jsctl.base.loops import gather
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.declared.compare import fetch_stream
from jsctl.jetstream.declared.model import Place, Stream
from jsctl.jetstream.declared.step import Target
from jsctl.jetstream.message.copies import Copies
from jsctl.jetstream.stream.replicas import describe_unsettled

_PAUSE_SECONDS = 0.25


async def wait_until_current(
    declared: Sequence[Stream], targets: Mapping[Place, Target], seconds: float
) -> list[str]:
    """Return once all streams are current, or what is not after `seconds`, a sentence for each."""
    behind = [f"stream {stream.name}" for stream in declared]
    copies: dict[int, Copies] = defaultdict(Copies)
    try:
        async with asyncio.timeout(seconds):
            while True:
                behind = await _find_behind(declared, targets, copies)
                if not behind:
                    return []
                await asyncio.sleep(_PAUSE_SECONDS)
    except TimeoutError:
        return behind


async def _find_behind(
    declared: Sequence[Stream], targets: Mapping[Place, Target], copies: Mapping[int, Copies]
) -> list[str]:
    """Return sentences about what is not current. copies: by connection."""
    infos = await gather(fetch_stream(targets[stream.place], stream.name) for stream in declared)
    sentences: list[str] = []
    found: dict[int, dict[tuple[str, str], Json]] = defaultdict(dict)
    apis: dict[int, dict[str, Api]] = defaultdict(dict)
    for stream, info in zip(declared, infos, strict=True):
        if info is None:
            sentences.append(f"stream {stream.name} does not exist")
            continue
        if unsettled := describe_unsettled(info):
            sentences.append(f"stream {stream.name}: {unsettled}")
        sentences += [
            f"stream {stream.name}: replica {replica['name']} is not current"
            for replica in (info.get("cluster") or {}).get("replicas") or ()
            if replica.get("current") and int(replica.get("lag") or 0)
        ]
        target = targets[stream.place]
        connection, prefix = id(target.api.connection), target.api.prefix
        domain = target.domain if prefix.startswith("$JS.") else prefix
        found[connection][domain, stream.name] = info
        apis[connection][domain] = target.api
    for connection, infos_there in found.items():
        sentences += await copies[connection].find_behind(infos_there, apis[connection])
    return sentences
