"""The activity of a stream over time."""

import time
from typing import NamedTuple

from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.polling import Sampler


class StreamSample(NamedTuple):
    """A stream at a given time: its messages, and how many per second were stored and removed since the
    sample before.

    at: seconds since 1970. The rates of a first sample are 0.
    """

    at: float
    messages: int
    bytes: int
    stored: float
    removed: float


def make_sampler(api: Api, stream: str) -> Sampler[StreamSample]:
    """Return a sampler of a stream."""
    return Sampler(lambda: streams.fetch_info(api, stream), _build_sample)


def _build_sample(info: Json, previous: Json | None, span: float) -> StreamSample:
    state = info["state"]
    messages, size = int(state["messages"]), int(state["bytes"])
    if previous is None:
        return StreamSample(time.time(), messages, size, 0.0, 0.0)
    previous_state = previous["state"]
    stored = max(0, int(state["last_seq"]) - int(previous_state["last_seq"]))
    removed = max(0, int(previous_state["messages"]) + stored - messages)
    return StreamSample(time.time(), messages, size, stored / span, removed / span)
