"""The data of the page of one stream or consumer."""

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.paging import fetch_items
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.consumer.diagnosis import find_causes
from jsctl.monitor.consumer.facts import Cause, Facts
from jsctl.monitor.consumer.why import fetch_facts
from jsctl.monitor.counters import Counters
from jsctl.monitor.origins import measure_lag

_MAX_VALUES = 120  #: values of the graph of a page

MANY_SUBJECTS = 10_000
"""How many subjects of a stream are listed at most; more would be a heavy request in every round."""


class StreamPage(NamedTuple):
    """A stream: its info, its consumers' infos, and messages by subject, None when there are too many."""

    info: Json
    consumers: Sequence[Json]
    subjects: Mapping[str, int] | None


class ConsumerPage(NamedTuple):
    """A consumer: what is known of it, and the causes of its state, the worst first."""

    facts: Facts
    causes: Sequence[Cause]


class History:
    """The values of a page's graph, fetched while the page is shown. before: the values to begin with."""

    def __init__(self, before: Sequence[int] = ()) -> None:
        self.values = list(before)
        self._counters = Counters()

    def add_counter(self, at: float, epoch: Hashable, value: int) -> None:
        """Add the rate of a counter. at: seconds of a monotonic clock."""
        rate = self._counters.rate("", epoch, at, value)
        self._counters.end_round()
        if rate is not None:
            self.add(round(rate))

    def add(self, value: int) -> None:
        """Add a value."""
        self.values = [*self.values[1 - _MAX_VALUES :], value]


async def fetch_stream_page(api: Api, stream: str) -> StreamPage:
    """Fetch a stream with its consumers and subjects. Raises what `Api.call` raises."""
    info, consumers = await asyncio.gather(streams.fetch_info(api, stream), fetch_consumers(api, stream))
    subjects: Mapping[str, int] | None = None
    if int(info["state"].get("num_subjects", 0)) <= MANY_SUBJECTS:
        subjects = await streams.count_subjects(api, stream)
    return StreamPage(await measure_lag(api, info), consumers, subjects)


async def fetch_consumer_page(api: Api, stream: str, consumer: str) -> ConsumerPage:
    """Fetch a consumer and the causes of its state. Raises what `Api.call` raises."""
    facts = await fetch_facts(api, stream, consumer)
    return ConsumerPage(facts, find_causes(facts))


async def fetch_consumers(api: Api, stream: str) -> Sequence[Json]:
    """Fetch the consumers of a stream; none if they cannot be listed."""
    # Not every user may list them, and the page should not fail because of that.
    try:
        return await fetch_items(api, f"CONSUMER.LIST.{stream}", "consumers")
    except JsctlError:
        return []
