"""Changes per second between two overviews of one domain. No I/O."""

from collections.abc import Mapping
from typing import NamedTuple

from jsctl.jetstream.api import Json
from jsctl.monitor.report.overview import Overview
from jsctl.monitor.stream.rows import LinkKey, build_link_key

ConsumerKey = tuple[str, str]


class Rates(NamedTuple):
    """Changes per second of what is in both overviews.

    messages: stored, by stream; deletes do not count. bytes: growth, by stream, negative when it shrinks.
    lag: by link. pending: by consumer.
    """

    messages: Mapping[str, float]
    bytes: Mapping[str, float]
    lag: Mapping[LinkKey, float]
    pending: Mapping[ConsumerKey, float]


def compute_rates(before: Overview, after: Overview, seconds: float) -> Rates:
    """Return what changed from one overview to a later one of the same domain."""
    if seconds <= 0:
        return Rates({}, {}, {}, {})
    earlier = {row.stream: row for row in before.streams}
    messages: dict[str, float] = {}
    growth: dict[str, float] = {}
    for row in after.streams:
        old = earlier.get(row.stream)
        if old is None or old.created != row.created or row.offline or old.offline:
            continue
        stored = row.last_seq - old.last_seq
        if stored >= 0:  # negative: a memory stream that lost everything, or a restored stream
            messages[row.stream] = stored / seconds
            growth[row.stream] = (row.bytes - old.bytes) / seconds
    lags = {build_link_key(row): row.lag for row in before.links}
    lag = {
        key: (row.lag - lags[key]) / seconds for row in after.links if (key := build_link_key(row)) in lags
    }
    waiting = {build_consumer_key(c): c["num_pending"] for c in before.consumers or ()}
    pending = {
        name: (c["num_pending"] - waiting[name]) / seconds
        for c in after.consumers or ()
        if (name := build_consumer_key(c)) in waiting
    }
    return Rates(messages, growth, lag, pending)


def build_consumer_key(consumer: Json) -> ConsumerKey:
    """Return what distinguishes one consumer from another."""
    return consumer["stream_name"], consumer["name"]
