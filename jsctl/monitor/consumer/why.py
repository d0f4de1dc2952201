"""The facts of a consumer that does not move, for `diagnosis`."""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

from jsctl.errors import ApiError, JsctlError, NoResponders, RequestTimeout
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import get_filters
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.consumer.evidence import gather_evidence, is_queue
from jsctl.monitor.consumer.facts import Facts, select_stream_facts
from jsctl.monitor.consumer.rows import count_messages
from jsctl.monitor.rights import find_ack_denials
from jsctl.nats.error_codes import ErrorCode


async def fetch_facts(api: Api, stream: str, name: str) -> Facts:
    """Fetch all that helps to find causes. Raises ApiError when the stream or consumer does not exist."""
    consumer_info, stream_info = await asyncio.gather(
        _fetch_or_describe(consumers.fetch_info(api, stream, name)),
        _fetch_or_describe(streams.fetch_info(api, stream)),
    )
    if isinstance(stream_info, str):
        if stream not in await streams.list_names(api):  # the cluster's leader answers for all
            raise streams.build_missing_error(api, stream)
        return Facts(stream, name, {}, {}, silent=stream_info)
    if isinstance(consumer_info, str):
        if name not in await consumers.list_names(api, stream):
            raise ApiError(404, ErrorCode.CONSUMER_NOT_FOUND, f"consumer {stream} > {name} not found")
        return Facts(stream, name, {}, stream_info, silent=consumer_info)
    facts, infos = select_stream_facts(stream_info), [consumer_info]
    if is_queue(facts):
        with contextlib.suppress(JsctlError):
            infos = list((await consumers.list_consumers(api, stream)).infos)
    matching, evidence, denied = await asyncio.gather(
        _count_matching(api, consumer_info, stream_info),
        gather_evidence(api, {stream: facts}, infos, has_states=True),
        find_ack_denials(api, [consumer_info]),
    )
    known = {**stream_info, "consumers": evidence.consumers.get(stream, {})}
    queue = evidence.streams.get(stream, ())
    return Facts(stream, name, consumer_info, known, matching, may_ack=not denied, queue=queue)


async def _fetch_or_describe(request: Coroutine[Any, Any, Json]) -> Json | str:
    """Return the reply, or the reason why there is none."""
    try:
        return await request
    except (RequestTimeout, NoResponders) as error:
        return error.message
    except ApiError as error:
        if error.code == 404:
            raise
        return str(error)


async def _count_matching(api: Api, consumer: Json, stream: Json) -> int | None:
    subjects = get_filters(consumer["config"])
    if not subjects:
        return int(stream["state"].get("messages", 0))
    counts = await asyncio.gather(
        *(count_messages(api, consumer["stream_name"], subject) for subject in subjects)
    )
    numbers = [count for count in counts if count is not None]
    return sum(numbers) if len(numbers) == len(counts) else None
