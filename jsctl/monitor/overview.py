"""What `jsctl report` asks one domain, and the rates between two answers. The rates are pure."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import NamedTuple

from jsctl.errors import ApiError, JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor import health, reports
from jsctl.monitor.health import Trouble
from jsctl.monitor.reports import ReplicationRow, StreamRow
from jsctl.units import SECOND

MANY = 100
"""Streams with consumers: with more, their consumers are left out unless asked for. One request each."""

LinkKey = tuple[str, str, str, str, str]
ConsumerKey = tuple[str, str]


class Overview(NamedTuple):
    """One domain at one time, in rows: the infos of the streams are not kept.

    streams: those that could not be asked come last, `offline` set. troubles: by stream, where there are
    any. links: of its mirrors and sources. consumers: CONSUMER.LIST entries of all streams; None when they
    were not asked for. account: what INFO says, empty when that is not allowed.
    """

    at: datetime
    streams: Sequence[StreamRow]
    troubles: Mapping[str, Sequence[Trouble]]
    links: Sequence[ReplicationRow]
    consumers: Sequence[Json] | None
    account: Json


class Rates(NamedTuple):
    """Changes a second between two overviews. What is not in both is in none of these.

    messages: stored, by stream; deletes do not count. bytes: growth, by stream, negative when it shrinks.
    lag: by link. pending: by consumer.
    """

    messages: Mapping[str, float]
    bytes: Mapping[str, float]
    lag: Mapping[LinkKey, float]
    pending: Mapping[ConsumerKey, float]


async def overview(
    api: Api, *, context: str = "", domain: str = "", pattern: str = "", consumers: bool | None = None
) -> Overview:
    """Streams whose name matches the glob `pattern`, their consumers, the account's limits.

    consumers: None asks for them when at most MANY streams have some. Raises what `Api.call` does.
    """
    links: list[ReplicationRow] = []
    troubles: dict[str, list[Trouble]] = {}

    def keep(info: Json) -> StreamRow | None:
        name = info["config"]["name"]
        if not _wanted(name, pattern):
            return None
        links.extend(reports.links_of(info, context, domain or api.domain))
        if found := health.of_stream(info, datetime.now(UTC)):
            troubles[name] = found
        return reports.stream_row(info, context, domain or api.domain)

    found, account = await asyncio.gather(streams.collect(api, keep), _account(api))
    at = datetime.now(UTC)
    silent = dict.fromkeys(found.missing, "no answer") | dict(found.offline)
    rows = [
        row._replace(offline=silent[row.stream]) if row.stream in silent else row
        for row in found.items.values()
    ]
    rows += [
        reports.silent_row(name, why, context, domain or api.domain)
        for name, why in sorted(silent.items())
        if name not in found.items and _wanted(name, pattern)
    ]
    having = [row.stream for row in rows if row.consumers]
    if consumers is False or (consumers is None and len(having) > MANY):
        return Overview(at, rows, troubles, links, None, account)
    return Overview(at, rows, troubles, links, await consumers_of(api, having), account)


async def consumers_of(api: Api, streams: Iterable[str]) -> list[Json]:
    """CONSUMER.LIST entries of these streams; one that is removed meanwhile has none."""
    gate = asyncio.Semaphore(16)

    async def of(stream: str) -> list[Json]:
        async with gate:
            try:
                return await api.pages(f"CONSUMER.LIST.{stream}", "consumers")
            except ApiError as error:
                if error.code == 404:
                    return []
                raise

    lists = await asyncio.gather(*map(of, streams))
    return [consumer for one in lists for consumer in one]


def rates(before: Overview, after: Overview, seconds: float) -> Rates:
    """What changed from one overview to a later one of the same domain."""
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
        if stored >= 0:  # less: a memory stream that lost everything, or one that was restored
            messages[row.stream] = stored / seconds
            growth[row.stream] = (row.bytes - old.bytes) / seconds
    lags = {link(row): row.lag for row in before.links}
    lag = {key: (row.lag - lags[key]) / seconds for row in after.links if (key := link(row)) in lags}
    waiting = {consumer_key(c): c["num_pending"] for c in before.consumers or ()}
    pending = {
        name: (c["num_pending"] - waiting[name]) / seconds
        for c in after.consumers or ()
        if (name := consumer_key(c)) in waiting
    }
    return Rates(messages, growth, lag, pending)


def link(row: ReplicationRow) -> LinkKey:
    """What tells one mirror or source from another."""
    return row.stream, row.kind, row.origin, row.api_prefix, row.filters


def consumer_key(consumer: Json) -> ConsumerKey:
    return consumer["stream_name"], consumer["name"]


async def _account(api: Api) -> Json:
    # Not every user may ask, and a report does not fail for it.
    try:
        return await api.call("INFO", timeout=SECOND)
    except JsctlError:
        return {}


def _wanted(name: str, pattern: str) -> bool:
    return not pattern or fnmatchcase(name, pattern)
