"""The overview of one domain, as `jsctl report` fetches it."""

import asyncio
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from jsctl.base.units import MINUTE, format_count, join_some, to_ns
from jsctl.errors import ApiError, JsctlError, NoResponders, RequestTimeout, Unreachable
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.paging import Memory, collect
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.consumer.evidence import gather_evidence
from jsctl.monitor.consumer.facts import select_stream_facts
from jsctl.monitor.origins import check_origins, select_link_facts
from jsctl.monitor.report.polling_order import PollingOrder
from jsctl.monitor.rights import Name, describe_ack_denials, find_ack_denials
from jsctl.monitor.rules.contexts import check_expiry
from jsctl.monitor.rules.streams import check_stream
from jsctl.monitor.stream.rows import (
    LinkKey,
    ReplicationRow,
    StreamRow,
    build_silent_row,
    build_stream_links,
    build_stream_row,
)
from jsctl.monitor.trouble import Gap, Trouble, is_settled
from jsctl.nats.login import find_expiry


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
    login: what is wrong with the login. link_troubles: of mirrors and sources whose origin is at fault.
    consumed: by stream, what a diagnosis of its consumers needs. queues: by stream, what only its consumers
    show of it. gaps: what was not looked at. listed: the
    streams whose consumers were listed in this round; None for all. limits: of streams that have some, or
    another retention than `limits`. settings: by stream, what else is configured and not as it usually is.
    hosting: by server. followers: by stream, if there are any."""

    at: datetime
    streams: Sequence[StreamRow]
    troubles: Mapping[str, Sequence[Trouble]]
    links: Sequence[ReplicationRow]
    consumers: Sequence[Json] | None
    account: Json
    consumed: Mapping[str, Json] = MappingProxyType({})
    gaps: Sequence[Gap] = ()
    limits: Mapping[str, Limits] = MappingProxyType({})
    hosting: Mapping[str, Hosting] = MappingProxyType({})
    followers: Mapping[str, Sequence[Follower]] = MappingProxyType({})
    listed: frozenset[str] | None = None
    link_troubles: Mapping[LinkKey, Sequence[Trouble]] = MappingProxyType({})
    login: Sequence[Trouble] = ()
    queues: Mapping[str, Sequence[Trouble]] = MappingProxyType({})
    settings: Mapping[str, Json] = MappingProxyType({})

    @property
    def waiting(self) -> set[str]:
        """The streams with consumers that were not listed in this round, because it was not their turn."""
        if self.listed is None:
            return set()
        return {row.stream for row in self.streams if row.consumers} - self.listed


class StreamParts(NamedTuple):
    """What an overview takes from the info of a stream. link_facts: what its links, and copies of it, need.
    row: None for a stream that is not asked for. facts: what a diagnosis of its consumers needs, None if it
    has none. limits: None for those of most streams. cluster: as in the info. settings: see Overview."""

    link_facts: Json
    row: StreamRow | None = None
    links: Sequence[ReplicationRow] = ()
    troubles: Sequence[Trouble] = ()
    facts: Json | None = None
    limits: Limits | None = None
    cluster: Json = {}  # noqa: RUF012
    settings: Json = {}  # noqa: RUF012


def is_static(info: Json) -> bool:
    """Return whether what an overview takes from a stream's info depends on nothing but the info, and not on
    the time: on how long replicas are behind, or whether the stream is young."""
    has_replicas = (info.get("cluster") or {}).get("replicas")
    return not has_replicas and is_settled(info.get("created"), datetime.now(UTC))


async def fetch_overview(
    api: Api,
    *,
    pattern: str,
    consumers: bool,
    order: PollingOrder | None = None,
    memory: Memory[StreamParts] | None = None,
) -> Overview:
    """Fetch the streams whose name matches the glob `pattern`, their consumers and the limits of the account.

    consumers: False fetches none. order: of whose consumers are listed in this round; None lists all, with a
    request for each. memory: of the rounds before, from the same place with the same pattern. Raises what
    `Api.call` raises.
    """
    extract = partial(_extract_parts, pattern, api.domain)
    collected, usage = await asyncio.gather(streams.collect(api, extract, memory=memory), fetch_account(api))
    at, parts = datetime.now(UTC), collected.items
    silent = dict.fromkeys(collected.missing, "no answer") | dict(collected.offline)
    rows = _list_rows(parts, silent, pattern, api.domain)
    links = [link for own in parts.values() for link in own.links]
    origins = await check_origins(api, {name: own.link_facts for name, own in parts.items()}, silent, links)
    facts = {name: own.facts for name, own in parts.items() if own.facts is not None}
    with_consumers = [row.stream for row in rows if row.consumers]
    left_out = [Gap("consumers", "consumers were left out", is_chosen=True)] if with_consumers else []
    answer = _Consumers(gaps=left_out)
    if consumers:
        answer = await _ask_consumers(api, facts, with_consumers, order)
    return Overview(
        at=at,
        streams=rows,
        troubles={name: own.troubles for name, own in parts.items() if own.troubles},
        links=origins.rows,
        consumers=answer.infos,
        account={} if isinstance(usage, Gap) else usage,
        consumed=answer.facts,
        gaps=[*([usage] if isinstance(usage, Gap) else ()), *origins.gaps, *answer.gaps],
        limits={name: own.limits for name, own in parts.items() if own.limits is not None},
        hosting=_count_hosts(own.cluster for own in parts.values()),
        followers={name: found for name, own in parts.items() if (found := _list_followers(own.cluster))},
        listed=answer.listed,
        link_troubles=origins.troubles,
        login=[
            *check_expiry("the login", find_expiry(api.connection.settings), to_ns(at)),
            *describe_ack_denials(answer.denied),
        ],
        queues=answer.queues,
        settings={name: own.settings for name, own in parts.items() if own.row is not None},
    )


def _list_rows(
    parts: Mapping[str, StreamParts], silent: Mapping[str, str], pattern: str, domain: str
) -> list[StreamRow]:
    """Return the rows of streams. silent: why streams do not answer, of which those without an info come
    last."""
    rows = [
        own.row._replace(offline=silent[name]) if name in silent else own.row
        for name, own in parts.items()
        if own.row is not None
    ]
    unknown = [name for name in sorted(silent) if name not in parts and _matches(name, pattern)]
    return rows + [build_silent_row(name, silent[name], "", domain) for name in unknown]


def _extract_parts(pattern: str, domain: str, info: Json) -> StreamParts:
    link_facts = select_link_facts(info)
    if not _matches(info["config"]["name"], pattern):
        return StreamParts(link_facts)
    limits = _read_limits(info["config"])
    return StreamParts(
        link_facts,
        build_stream_row(info, "", domain),
        build_stream_links(info, "", domain),
        check_stream(info, datetime.now(UTC)),
        select_stream_facts(info) if info["state"].get("consumer_count") else None,
        None if limits == _UNBOUNDED else limits,
        info.get("cluster") or {},
        _read_settings(info["config"]),
    )


class _Consumers(NamedTuple):
    """What an overview knows of consumers, see there. denied: those that the login may not acknowledge."""

    infos: Sequence[Json] | None = None
    facts: Mapping[str, Json] = MappingProxyType({})
    queues: Mapping[str, Sequence[Trouble]] = MappingProxyType({})
    denied: Sequence[Name] = ()
    gaps: Sequence[Gap] = ()
    listed: frozenset[str] | None = frozenset()


async def _ask_consumers(
    api: Api, facts: Mapping[str, Json], streams: Sequence[str], order: PollingOrder | None
) -> _Consumers:
    """List the consumers of these streams, and look closer at those that need it. facts: of the streams."""
    listed = streams if order is None else order.take(streams)
    infos, failed = await _list_consumers(api, listed)
    evidence, denied = await asyncio.gather(
        gather_evidence(api, {name: facts[name] for name in listed if name not in failed}, infos or ()),
        find_ack_denials(api, infos or ()),
    )
    return _Consumers(
        infos,
        {**facts, **{name: {**facts[name], "consumers": own} for name, own in evidence.consumers.items()}},
        evidence.streams,
        denied,
        _describe_gaps(failed if order is None else order.note_answers(listed, failed)),
        None if order is None else frozenset(listed),
    )


async def fetch_consumers(api: Api, streams: Sequence[str]) -> tuple[list[Json] | None, Sequence[Gap]]:
    """Fetch the CONSUMER.LIST entries of these streams; a stream that is deleted meanwhile has none.

    Returns the entries, or None when those of no stream can be listed, and what could not be listed. Raises
    RequestTimeout when no stream answers, and Unreachable."""
    infos, failed = await _list_consumers(api, streams)
    return infos, _describe_gaps(failed)


async def _list_consumers(
    api: Api, streams: Sequence[str]
) -> tuple[list[Json] | None, Mapping[str, JsctlError]]:
    """Return the entries, and by stream why they cannot be listed; see `fetch_consumers`."""
    lists = await _fetch_consumer_lists(api, streams)
    infos = [info for listed, _ in lists for info in listed]
    failed = {name: error for name, (_, error) in zip(streams, lists, strict=True) if error is not None}
    none = bool(failed) and len(failed) == len(streams) and not infos
    if none and any(isinstance(error, RequestTimeout) for error in failed.values()):
        raise next(iter(failed.values()))
    return None if none else infos, failed


async def _fetch_consumer_lists(
    api: Api, streams: Iterable[str]
) -> list[tuple[Sequence[Json], JsctlError | None]]:
    """Return the consumers of each stream, and why they, or some, could not be listed. Raises Unreachable."""
    gate = asyncio.Semaphore(16)

    async def fetch(stream: str) -> tuple[Sequence[Json], JsctlError | None]:
        async with gate:
            try:
                found = await collect(api, f"CONSUMER.LIST.{stream}", "consumers", lambda info: info)
            except ApiError as error:
                return [], None if error.code == 404 else error
            except (NoResponders, RequestTimeout) as error:
                return [], error
            except Unreachable:
                raise
            except JsctlError as error:
                return [], error
        silent = [*found.missing, *found.offline]  # their leader is away, or no server can run them
        gap = JsctlError(f"no answer from {join_some(silent, 1)}") if silent else None
        return [*found.items.values()], gap

    return await asyncio.gather(*map(fetch, streams))


def _describe_gaps(failed: Mapping[str, JsctlError]) -> list[Gap]:
    if not failed:
        return []
    name, error = next(iter(failed.items()))
    subject = f"stream {name}" if len(failed) == 1 else f"{format_count(len(failed))} streams"
    return [Gap("consumers", f"the consumers of {subject} cannot be listed: {error.message}")]


_UNBOUNDED = Limits(-1, -1, "limits")


def _read_limits(config: Json) -> Limits:
    return Limits(
        int(config.get("max_msgs", -1)) or -1,
        int(config.get("max_bytes", -1)) or -1,
        str(config.get("retention", "limits")),
    )


_ELSEWHERE = frozenset({"name", "storage", "num_replicas", "placement", "max_msgs", "max_bytes", "retention"})
"""What rows and limits have."""

USUAL_SETTINGS: Mapping[str, Any] = {
    "discard": "old",
    "compression": "none",
    "duplicate_window": 2 * MINUTE,
}
"""Values that the settings of streams leave out."""


def _read_settings(config: Json) -> Json:
    return {
        key: value
        for key, value in config.items()
        if key not in _ELSEWHERE
        and (value != USUAL_SETTINGS[key] if key in USUAL_SETTINGS else value and value != -1)
    }


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


def _count_hosts(clusters: Iterable[Json]) -> Mapping[str, Hosting]:
    hosting: dict[str, Hosting] = {}
    for cluster in clusters:
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
    return hosting


async def fetch_account(api: Api) -> Json | Gap:
    """Fetch the account's INFO; what is then not known if there is no answer."""
    # Not every user may ask for it, and a report should not fail because of that.
    try:
        return await api.call("INFO")
    except JsctlError as error:
        return Gap("account", f"the limits of the account cannot be read: {error.message}")


def _matches(name: str, pattern: str) -> bool:
    return not pattern or fnmatchcase(name, pattern)
