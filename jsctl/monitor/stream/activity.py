"""The activity of a stream over time."""

import time
from collections.abc import AsyncIterator
from typing import NamedTuple

from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.polling import poll_info


class StreamSample(NamedTuple):
    """At one time: messages in the stream, and how many a second came and went since the time before.

    at: seconds since the epoch. The rates of a first sample are 0.
    """

    at: float
    messages: int
    bytes: int
    stored: float
    removed: float


async def samples(api: Api, stream: str, interval: float) -> AsyncIterator[StreamSample]:
    """A stream's samples; see `poll_info`."""
    async for info, before, span in poll_info(lambda: streams.info(api, stream), interval):
        yield _sample(info["state"], before["state"] if before else None, span)


def _sample(state: Json, before: Json | None, span: float) -> StreamSample:
    messages, size = int(state["messages"]), int(state["bytes"])
    if before is None:
        return StreamSample(time.time(), messages, size, 0.0, 0.0)
    came = max(0, int(state["last_seq"]) - int(before["last_seq"]))
    went = max(0, int(before["messages"]) + came - messages)
    return StreamSample(time.time(), messages, size, came / span, went / span)
