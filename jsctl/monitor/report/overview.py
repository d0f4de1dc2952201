"""The overview of one domain, as `jsctl report` fetches it."""

import asyncio
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import NamedTuple

from jsctl.errors import ApiError, JsctlError, NoResponders, RequestTimeout, Unreachable
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.paging import fetch_items
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.consumer.facts import select_stream_facts
from jsctl.monitor.report import health
from jsctl.monitor.stream.rows import (
    ReplicationRow,
    StreamRow,
    build_silent_row,
    build_stream_links,
    build_stream_row,
)
from jsctl.monitor.trouble import Trouble
from jsctl.units import SECOND, format_count

MANY = 100
"""Above this many streams with consumers, consumers are left out unless asked for: each stream takes a
request.
"""


class Limits(NamedTuple):
    """The limits of a stream. messages, bytes: -1 for no limit. retention: as in its configuration."""

    messages: int
    bytes: int
    retention: str


class Hosting(NamedTuple):
    """The replicas that a server holds, according to the streams of an account.

    behind, offline: streams whose replica there is behind or offline. lag: operations that the worst replica
    is behind.
    """

    leads: int = 0
    follows: int = 0
    behind: int = 0
    offline: int = 0
    lag: int = 0


class Follower(NamedTuple):
    """A replica of a stream that does not lead it. lag: operations that it is behind."""

    name: str
    lag: int
    is_current: bool
    is_offline: bool


class Overview(NamedTuple):
    """One domain at one time, in rows. The infos of its streams are not kept, as there may be 10,000.

    streams: those that did not answer come last, with `offline` set. troubles: by stream, if there are
    any. links: its mirrors and sources. consumers: CONSUMER.LIST entries of all streams; None when they were
    not asked for or could not be listed. account: the answer to INFO, empty when that is not allowed.
    consumed: by stream, what a diagnosis of its consumers needs. gaps: what could not be fetched and why, a
    sentence each. limits: of streams that have some, or another retention than `limits`. hosting: by server.
    followers: by stream, if there are any.
    """

    at: datetime
    streams: Sequence[StreamRow]
    troubles: Mapping[str, Sequence[Trouble]]
    links: Sequence[ReplicationRow]
    consumers: Sequence[Json] | None
    account: Json
    consumed: Mapping[str, Json] = MappingProxyType({})
    gaps: Sequence[str] = ()
    limits: Mapping[str, Limits] = MappingProxyType({})
    hosting: Mapping[str, Hosting] = MappingProxyType({})
    followers: Mapping[str, Sequence[Follower]] = MappingProxyType({})


async def fetch_overview(
    api: Api,
    *,
    context: str = "",
    domain: str = "",
    pattern: str = "",
    consumers: bool | None = None,
    account: bool = True,
) -> Overview:
    """Fetch the streams whose name matches the glob `pattern`, their consumers and the limits of the account.

    consumers: None fetches them when at most MANY streams have some. account: whether to fetch its limits.
    Raises what `Api.call` raises.
    """
    links: list[ReplicationRow] = []
    troubles: dict[str, list[Trouble]] = {}
    consumed: dict[str, Json] = {}
    limits: dict[str, Limits] = {}
    hosting: dict[str, Hosting] = {}
    followers: dict[str, Sequence[Follower]] = {}

    def extract(info: Json) -> StreamRow | None:
        name = info["config"]["name"]
        if not _matches(name, pattern):
            return None
        links.extend(build_stream_links(info, context, domain or api.domain))
        if stream_troubles := health.check_stream(info, datetime.now(UTC)):
            troubles[name] = stream_troubles
        if info["state"].get("consumer_count"):
            consumed[name] = select_stream_facts(info)
        if (stream_limits := _read_limits(info["config"])) != _UNBOUNDED:
            limits[name] = stream_limits
        _count_hosts(info.get("cluster") or {}, hosting)
        if replicas := _list_followers(info.get("cluster") or {}):
            followers[name] = replicas
        return build_stream_row(info, context, domain or api.domain)

    collected, usage = await asyncio.gather(
        streams.collect(api, extract), fetch_account(api) if account else _return_empty()
    )
    at = datetime.now(UTC)
    silent = dict.fromkeys(collected.missing, "no answer") | dict(collected.offline)
    rows = [
        row._replace(offline=silent[row.stream]) if row.stream in silent else row
        for row in collected.items.values()
    ]
    rows += [
        build_silent_row(name, reason, context, domain or api.domain)
        for name, reason in sorted(silent.items())
        if name not in collected.items and _matches(name, pattern)
    ]
    with_consumers = [row.stream for row in rows if row.consumers]
    if consumers is False or (consumers is None and len(with_consumers) > MANY):
        return Overview(
            at, rows, troubles, links, None, usage, limits=limits, hosting=hosting, followers=followers
        )
    infos, gaps = await fetch_consumers(api, with_consumers)
    return Overview(at, rows, troubles, links, infos, usage, consumed, gaps, limits, hosting, followers)


async def fetch_consumers(api: Api, streams: Sequence[str]) -> tuple[list[Json] | None, Sequence[str]]:
    """Fetch the CONSUMER.LIST entries of these streams; a stream that is deleted meanwhile has none.

    Returns the entries, or None when those of no stream can be listed, and what could not be fetched and why,
    a sentence each. Raises RequestTimeout when no stream answers, and Unreachable.
    """
    lists = await _fetch_consumer_lists(api, streams)
    infos = [info for consumers in lists if not isinstance(consumers, JsctlError) for info in consumers]
    failed = [
        (name, consumers)
        for name, consumers in zip(streams, lists, strict=True)
        if isinstance(consumers, JsctlError)
    ]
    none = bool(failed) and len(failed) == len(streams)
    if none and any(isinstance(error, RequestTimeout) for _, error in failed):
        raise failed[0][1]
    return None if none else infos, _describe_gaps(failed)


async def _fetch_consumer_lists(api: Api, streams: Iterable[str]) -> list[list[Json] | JsctlError]:
    """Return the consumers of each stream, or why they could not be listed. Raises Unreachable."""
    gate = asyncio.Semaphore(16)

    async def fetch(stream: str) -> list[Json] | JsctlError:
        async with gate:
            try:
                return await fetch_items(api, f"CONSUMER.LIST.{stream}", "consumers")
            except ApiError as error:
                return [] if error.code == 404 else error
            except (NoResponders, RequestTimeout) as error:
                return error
            except Unreachable:
                raise
            except JsctlError as error:
                return error

    return await asyncio.gather(*map(fetch, streams))


def _describe_gaps(failed: Sequence[tuple[str, JsctlError]]) -> list[str]:
    if not failed:
        return []
    name, error = failed[0]
    subject = f"stream {name}" if len(failed) == 1 else f"{format_count(len(failed))} streams"
    return [f"the consumers of {subject} cannot be listed: {error.message}"]


_UNBOUNDED = Limits(-1, -1, "limits")


def _read_limits(config: Json) -> Limits:
    return Limits(
        int(config.get("max_msgs", -1)) or -1,
        int(config.get("max_bytes", -1)) or -1,
        str(config.get("retention", "limits")),
    )


def _list_followers(cluster: Json) -> tuple[Follower, ...]:
    return tuple(
        Follower(
            sys.intern(str(peer.get("name", ""))),
            int(peer.get("lag", 0)),
            bool(peer.get("current", True)),
            bool(peer.get("offline")),
        )
        for peer in cluster.get("replicas") or ()
    )


def _count_hosts(cluster: Json, hosting: dict[str, Hosting]) -> None:
    if leader := cluster.get("leader"):
        hosts = hosting.get(leader, Hosting())
        hosting[leader] = hosts._replace(leads=hosts.leads + 1)
    for peer in cluster.get("replicas") or ():
        name = str(peer.get("name", ""))
        hosts, away = hosting.get(name, Hosting()), bool(peer.get("offline"))
        hosting[name] = hosts._replace(
            follows=hosts.follows + 1,
            behind=hosts.behind + (not away and not peer.get("current", True)),
            offline=hosts.offline + away,
            lag=max(hosts.lag, int(peer.get("lag", 0))),
        )


async def _return_empty() -> Json:
    return {}


async def fetch_account(api: Api) -> Json:
    """Fetch the account's INFO; empty when that is not allowed."""
    # Not every user may ask for it, and a report should not fail because of that.
    try:
        return await api.call("INFO", timeout=SECOND)
    except JsctlError:
        return {}


def _matches(name: str, pattern: str) -> bool:
    return not pattern or fnmatchcase(name, pattern)
