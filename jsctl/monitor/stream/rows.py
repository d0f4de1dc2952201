"""Snapshots of one JetStream domain, and the rows of reports on it.

Only `fetch_snapshot` sends requests; `stream report`, `jsctl report` and the exports share the rest, so that
they agree. Rows are named tuples: a report may have 10,000.
"""

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from jsctl.base.units import read_known_time
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.origins import find_reached
from jsctl.jetstream.state import (
    count_deleted,
    count_lost,
    find_required_level,
    format_followers,
    format_migration,
    format_origin_filters,
    format_placement,
    read_last_active,
)
from jsctl.jetstream.stream import requests as streams


class Snapshot(NamedTuple):
    """All streams of one account in one domain, as they were at a given time.

    at: when the answer arrived (UTC). infos: STREAM.LIST entries as the server sent them. missing: streams
    that the server knows and could not ask. offline: stream -> why it is off (a server too old for its
    configuration).
    """

    at: datetime
    infos: Sequence[Json] = ()
    missing: Sequence[str] = ()
    offline: Mapping[str, str] = MappingProxyType({})
    context: str = ""
    domain: str = ""


class StreamRow(NamedTuple):
    """A stream's line in a report. Times are RFC 3339 as the server wrote them, None for not yet."""

    context: str
    domain: str
    stream: str
    storage: str  #: file, memory; empty if the server could not say
    placement: str  #: `cluster: c1 tags: a, b`
    created: str | None
    replicas: int
    consumers: int
    messages: int
    bytes: int
    lost: int
    lost_bytes: int
    deleted: int
    subjects: int
    first_seq: int
    last_seq: int
    first_ts: str | None
    last_ts: str | None
    api_level: int  #: the level that its configuration needs
    cluster: str | None
    leader: str | None
    peers: tuple[str, ...]  #: followers, `name!` for one that is offline or behind
    offline: str | None  #: why it cannot be reached, None when it can
    raft_group: str = ""  #: empty if there is no cluster
    migration: str | None = None  #: how far its servers are changed, None if they are not


class ReplicationRow(NamedTuple):
    """A row about a mirror or source: one for each stream and origin. reached: see `find_reached`."""

    context: str
    domain: str
    stream: str
    kind: Literal["mirror", "source"]
    api_prefix: str  #: of the origin; empty for the same domain and account
    origin: str
    filters: str  #: `a.> to b.>, c untransformed`; empty for all
    active: int  #: ns since the origin was last heard from, NEVER (-1) for not yet
    lag: int
    error: str
    deliver: str = ""  #: delivery prefix of the origin; empty for the usual
    ahead: int = 0  #: sequences that it is past the last one of its origin
    reached: int | None = None


LinkKey = tuple[str, str, str, str, str]
"""The stream, kind, origin, API prefix and filters of a mirror or source."""


async def fetch_snapshot(api: Api) -> Snapshot:
    """Fetch all streams in parallel pages. Raises what `Api.call` raises.

    It takes about 2.5 KB for each stream; if little of each is needed, use `streams.collect`.
    """
    collected = await streams.collect(api, lambda info: info)
    infos = list(collected.items.values())
    return Snapshot(datetime.now(UTC), infos, collected.missing, collected.offline, domain=api.domain)


def build_stream_rows(snap: Snapshot) -> list[StreamRow]:
    """Return a row for each stream, in the server's order; streams that could not be asked come last, with
    `offline` set."""
    rows = [
        build_stream_row(info, snap.context, snap.domain, snap.offline.get(info["config"]["name"]))
        for info in snap.infos
    ]
    silent = dict.fromkeys(snap.missing, "no answer") | dict(snap.offline)
    answered = {row.stream for row in rows}
    rows.extend(
        build_silent_row(name, reason, snap.context, snap.domain)
        for name, reason in sorted(silent.items())
        if name not in answered
    )
    return rows


def build_stream_links(info: Json, context: str = "", domain: str = "") -> list[ReplicationRow]:
    """Return the rows of one stream's mirror or sources."""
    rows = [
        _build_replication_row(context, domain, info, "source", source)
        for source in info.get("sources") or ()
    ]
    rows.sort(key=lambda row: (row.origin, row.api_prefix, row.filters))
    if mirror := info.get("mirror"):
        rows.insert(0, _build_replication_row(context, domain, info, "mirror", mirror))
    return rows


def build_stream_row(
    info: Json, context: str = "", domain: str = "", offline: str | None = None
) -> StreamRow:
    """Return the row of a stream's info. offline: why the stream cannot be reached."""
    config, state, cluster = info["config"], info["state"], info.get("cluster") or {}
    lost, lost_bytes = count_lost(state)
    return StreamRow(
        context=context,
        domain=domain,
        stream=config["name"],
        storage=sys.intern(config.get("storage", "")),  # otherwise each stream would keep its own copy
        placement=format_placement(config),
        created=read_known_time(info.get("created")),
        replicas=int(config.get("num_replicas", 1)),
        consumers=int(state.get("consumer_count", 0)),
        messages=int(state.get("messages", 0)),
        bytes=int(state.get("bytes", 0)),
        lost=lost,
        lost_bytes=lost_bytes,
        deleted=count_deleted(state),
        subjects=int(state.get("num_subjects", 0)),
        first_seq=int(state.get("first_seq", 0)),
        last_seq=int(state.get("last_seq", 0)),
        first_ts=read_known_time(state.get("first_ts")),
        last_ts=read_known_time(state.get("last_ts")),
        api_level=find_required_level(config),
        cluster=cluster.get("name"),
        leader=cluster.get("leader"),
        peers=format_followers(cluster),
        offline=offline,
        raft_group=str(cluster.get("raft_group") or ""),
        migration=format_migration(info) or None,
    )


def build_silent_row(name: str, reason: str, context: str = "", domain: str = "") -> StreamRow:
    """Return the row of a stream that could not be asked."""
    empty_info: Json = {"config": {"name": name}, "state": {}}
    return build_stream_row(empty_info, context, domain, reason)._replace(replicas=0)


def _build_replication_row(
    context: str, domain: str, info: Json, kind: Literal["mirror", "source"], source: Json
) -> ReplicationRow:
    error = source.get("error") or {}
    code = error.get("err_code") or error.get("code")
    text = str(error.get("description", ""))
    return ReplicationRow(
        context=context,
        domain=domain,
        stream=info["config"]["name"],
        kind=kind,
        api_prefix=str((source.get("external") or {}).get("api", "")),
        origin=str(source.get("name", "")),
        filters=format_origin_filters(source),
        active=read_last_active(source),
        lag=int(source.get("lag", 0)),
        error=f"{text} ({code})" if text and code else text,
        deliver=str((source.get("external") or {}).get("deliver", "")),
        reached=find_reached(info, source),
    )


def build_link_key(row: ReplicationRow) -> LinkKey:
    """Return what distinguishes one mirror or source from another."""
    return row.stream, row.kind, row.origin, row.api_prefix.rstrip("."), row.filters


def build_origin_key(stream: str, kind: str, origin: Mapping[str, Any]) -> LinkKey:
    """Return the same for a mirror or source in the configuration or info of a stream."""
    return stream, kind, str(origin.get("name", "")), get_external(origin), format_origin_filters(origin)


def get_external(origin: Mapping[str, Any]) -> str:
    """Return the API prefix of a mirror or source; empty for the own."""
    return str((origin.get("external") or {}).get("api") or "").rstrip(".")
