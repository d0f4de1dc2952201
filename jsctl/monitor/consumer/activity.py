"""The activity of a consumer over time."""

import time
from typing import NamedTuple

from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.monitor.polling import Sampler


class ConsumerSample(NamedTuple):
    """A consumer at a given time: its pending messages, those that wait for an ack, and how many per second
    were delivered and acknowledged since the sample before.

    at: seconds since 1970. The rates of a first sample are 0.
    """

    at: float
    pending: int
    unacknowledged: int
    acknowledged: float
    delivered: float


def make_sampler(api: Api, stream: str, consumer: str) -> Sampler[ConsumerSample]:
    """Return a sampler of a consumer."""
    return Sampler(lambda: consumers.fetch_info(api, stream, consumer), _build_sample)


def _build_sample(info: Json, previous: Json | None, span: float) -> ConsumerSample:
    def rate(key: str) -> float:
        if previous is None:
            return 0.0
        # A lower number than before: the consumer was reset or created again.
        return max(0, int(info[key]["consumer_seq"]) - int(previous[key]["consumer_seq"])) / span

    return ConsumerSample(
        time.time(),
        int(info.get("num_pending", 0)),
        int(info.get("num_ack_pending", 0)),
        rate("ack_floor"),
        rate("delivered"),
    )
