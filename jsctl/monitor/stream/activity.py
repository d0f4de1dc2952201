"""The activity of a stream over time."""

import time
from collections.abc import AsyncIterator
from typing import NamedTuple

from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.polling import poll_info


class StreamSample(NamedTuple):
    """A stream at one time: its messages, and how many per second were stored and removed since the sample
    before.

    at: seconds since 1970. The rates of a first sample are 0.
    """

    at: float
    messages: int
    bytes: int
    stored: float
    removed: float


async def samples(api: Api, stream: str, interval: float) -> AsyncIterator[StreamSample]:
    """Yield a stream's samples; see `poll_info`. interval: seconds."""
    async for info, before, span in poll_info(lambda: streams.info(api, stream), interval):
        yield _sample(info["state"], before["state"] if before else None, span)


def _sample(state: Json, before: Json | None, span: float) -> StreamSample:
    messages, size = int(state["messages"]), int(state["bytes"])
    if before is None:
        return StreamSample(time.time(), messages, size, 0.0, 0.0)
    stored = max(0, int(state["last_seq"]) - int(before["last_seq"]))
    removed = max(0, int(before["messages"]) + stored - messages)
    return StreamSample(time.time(), messages, size, stored / span, removed / span)
