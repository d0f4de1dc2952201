"""A stream's activity over time."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import NamedTuple

from jsctl.errors import Unreachable
from jsctl.jetstream import streams
from jsctl.jetstream.api import Api, Json


class Sample(NamedTuple):
    """At one time: messages in the stream, and how many a second came and went since the time before.

    at: seconds since the epoch. The rates of a first sample are 0.
    """

    at: float
    messages: int
    bytes: int
    stored: float
    removed: float


async def samples(api: Api, stream: str, interval: float) -> AsyncIterator[Sample]:
    """A sample every `interval` seconds, the first at once; none while the server does not answer.

    Raises ApiError when the stream is not there (any more).
    """
    loop = asyncio.get_running_loop()
    due = loop.time()
    before: tuple[float, Json] | None = None
    while True:
        try:
            state = (await streams.info(api, stream))["state"]
        except Unreachable:
            if before is None:
                raise
        else:
            taken = loop.time()
            yield _sample(state, taken, before)
            before = taken, state
        due = max(due + interval, loop.time())
        await asyncio.sleep(due - loop.time())


def _sample(state: Json, taken: float, before: tuple[float, Json] | None) -> Sample:
    messages, size = int(state["messages"]), int(state["bytes"])
    if before is None:
        return Sample(time.time(), messages, size, 0.0, 0.0)
    span = max(taken - before[0], 1e-6)
    came = max(0, int(state["last_seq"]) - int(before[1]["last_seq"]))
    went = max(0, int(before[1]["messages"]) + came - messages)
    return Sample(time.time(), messages, size, came / span, went / span)
