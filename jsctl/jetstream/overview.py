"""What `jsctl report` asks one domain, and the rates between two answers. The rates are pure."""

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from jsctl.errors import ApiError, JsctlError
from jsctl.jetstream import reports
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.reports import ReplicationRow, Snapshot
from jsctl.units import SECOND

MANY = 100
"""Streams with consumers: with more, their consumers are left out unless asked for. One request each."""

LinkKey = tuple[str, str, str, str, str]
ConsumerKey = tuple[str, str]


class Overview(NamedTuple):
    """One domain at one time.

    links: the rows of its mirrors and sources. consumers: CONSUMER.LIST entries of all streams; None
    when they were not asked for. account: what INFO says, empty when that is not allowed.
    """

    snap: Snapshot
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
    snap, account = await asyncio.gather(reports.snapshot(api, context=context), _account(api))
    infos = [info for info in snap.infos if _wanted(info["config"]["name"], pattern)]
    snap = Snapshot(
        snap.at,
        infos,
        [name for name in snap.missing if _wanted(name, pattern)],
        {name: why for name, why in snap.offline.items() if _wanted(name, pattern)},
        context,
        domain or snap.domain,
    )
    having = [info["config"]["name"] for info in infos if info["state"].get("consumer_count")]
    if consumers is False or (consumers is None and len(having) > MANY):
        return Overview(snap, reports.replication_rows(snap), None, account)
    gate = asyncio.Semaphore(16)

    async def of(stream: str) -> list[Json]:
        async with gate:
            try:
                return await api.pages(f"CONSUMER.LIST.{stream}", "consumers")
            except ApiError as error:
                if error.code == 404:  # removed meanwhile
                    return []
                raise

    lists = await asyncio.gather(*map(of, having))
    found = [consumer for one in lists for consumer in one]
    return Overview(snap, reports.replication_rows(snap), found, account)


def rates(before: Overview, after: Overview, seconds: float) -> Rates:
    """What changed from one overview to a later one of the same domain."""
    if seconds <= 0:
        return Rates({}, {}, {}, {})
    earlier = {info["config"]["name"]: info for info in before.snap.infos}
    messages: dict[str, float] = {}
    growth: dict[str, float] = {}
    for info in after.snap.infos:
        name, state = info["config"]["name"], info["state"]
        old = earlier.get(name)
        if old is None or old.get("created") != info.get("created"):
            continue
        stored = state["last_seq"] - old["state"]["last_seq"]
        if stored >= 0:  # less: a memory stream that lost everything, or one that was restored
            messages[name] = stored / seconds
            growth[name] = (state["bytes"] - old["state"]["bytes"]) / seconds
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


def growing(numbers: Sequence[int]) -> bool:
    """Whether a number, oldest first, grows and not only flutters: three at least, none less than the
    one before, the last two or more above the first."""
    return (
        len(numbers) >= 3
        and all(a <= b for a, b in itertools.pairwise(numbers))
        and numbers[-1] - numbers[0] >= 2
    )


async def _account(api: Api) -> Json:
    # Not every user may ask, and a report does not fail for it.
    try:
        return await api.call("INFO", timeout=SECOND)
    except JsctlError:
        return {}


def _wanted(name: str, pattern: str) -> bool:
    return not pattern or fnmatchcase(name, pattern)
