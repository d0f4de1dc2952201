"""The activity of a stream or consumer over time."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import NamedTuple

from jsctl.errors import Unreachable
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.stream import requests as streams


class Sample(NamedTuple):
    """At one time: messages in the stream, and how many a second came and went since the time before.

    at: seconds since the epoch. The rates of a first sample are 0.
    """

    at: float
    messages: int
    bytes: int
    stored: float
    removed: float


class ConsumerSample(NamedTuple):
    """At one time: messages that a consumer has before it and that wait for acknowledgement, and how many
    a second were delivered and acknowledged since the time before.

    at: seconds since the epoch. The rates of a first sample are 0.
    """

    at: float
    pending: int
    unacknowledged: int
    acknowledged: float
    delivered: float


async def samples(api: Api, stream: str, interval: float) -> AsyncIterator[Sample]:
    """A stream's samples; see `_looks`."""
    async for info, before, span in _looks(lambda: streams.info(api, stream), interval):
        yield _sample(info["state"], before["state"] if before else None, span)


async def consumer_samples(
    api: Api, stream: str, consumer: str, interval: float
) -> AsyncIterator[ConsumerSample]:
    """A consumer's samples; see `_looks`."""
    async for info, before, span in _looks(lambda: consumers.info(api, stream, consumer), interval):

        def rate(key: str, info: Json = info, before: Json | None = before, span: float = span) -> float:
            if before is None:
                return 0.0
            # Less than before: it was reset or made anew.
            return max(0, int(info[key]["consumer_seq"]) - int(before[key]["consumer_seq"])) / span

        yield ConsumerSample(
            time.time(),
            int(info.get("num_pending", 0)),
            int(info.get("num_ack_pending", 0)),
            rate("ack_floor"),
            rate("delivered"),
        )


async def _looks(
    ask: Callable[[], Awaitable[Json]], interval: float
) -> AsyncIterator[tuple[Json, Json | None, float]]:
    """An info every `interval` seconds, the first at once, with the one before and the seconds between;
    none while the server does not answer.

    Raises ApiError when what is asked for is not there (any more).
    """
    loop = asyncio.get_running_loop()
    due = loop.time()
    before: tuple[float, Json] | None = None
    while True:
        try:
            info = await ask()
        except Unreachable:
            if before is None:
                raise
        else:
            taken = loop.time()
            yield info, before[1] if before else None, max(taken - before[0], 1e-6) if before else 1.0
            before = taken, info
        due = max(due + interval, loop.time())
        await asyncio.sleep(due - loop.time())


def _sample(state: Json, before: Json | None, span: float) -> Sample:
    messages, size = int(state["messages"]), int(state["bytes"])
    if before is None:
        return Sample(time.time(), messages, size, 0.0, 0.0)
    came = max(0, int(state["last_seq"]) - int(before["last_seq"]))
    went = max(0, int(before["messages"]) + came - messages)
    return Sample(time.time(), messages, size, came / span, went / span)
