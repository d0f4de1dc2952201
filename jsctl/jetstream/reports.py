"""Snapshots of one JetStream domain, and the rows that reports make of them.

`snapshot` asks the server; everything else is pure, so that `stream report`, `jsctl report` and the
exports say the same. Rows are named tuples (`_asdict()` gives a record): a report may have 10,000.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from jsctl.jetstream.api import Api, Json

NEVER = -1


class Snapshot(NamedTuple):
    """All streams of one account in one domain, as they were at one time.

    at: when the answer was here (UTC).
    infos: STREAM.LIST entries as the server sent them.
    missing: streams that the server knows and could not ask. offline: stream -> why it is off
    (a server too old for its configuration).
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
    storage: str  #: file, memory; empty where the server could not say
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


class ReplicationRow(NamedTuple):
    """A mirror's or source's line: one a stream and origin."""

    context: str
    domain: str
    stream: str
    kind: Literal["mirror", "source"]
    api_prefix: str  #: of the origin; empty for the same domain and account
    origin: str
    filters: str  #: `a.> to b.>, c untransformed`; empty for all
    active: int  #: ns since the origin was last heard of, NEVER (-1) for not yet
    lag: int
    error: str


async def snapshot(api: Api, *, context: str = "", subject: str = "") -> Snapshot:
    """All streams (those that listen on `subject`), asked in parallel pages. Raises what `Api.call` does."""
    body = {"subject": subject} if subject else {}
    replies = await api.replies("STREAM.LIST", "streams", body)
    return collect(replies, datetime.now(UTC), context=context, domain=api.domain)


def collect(replies: Iterable[Json], at: datetime, *, context: str = "", domain: str = "") -> Snapshot:
    """A snapshot from the pages of STREAM.LIST. A stream that two pages have counts once."""
    infos: dict[str, Json] = {}
    missing: set[str] = set()
    offline: dict[str, str] = {}
    for reply in replies:
        infos.update((info["config"]["name"], info) for info in reply.get("streams") or [])
        missing.update(reply.get("missing") or [])
        offline.update(reply.get("offline") or {})
    gone = missing - offline.keys() - infos.keys()
    return Snapshot(at, list(infos.values()), sorted(gone), offline, context, domain)


def stream_rows(snap: Snapshot) -> list[StreamRow]:
    """A row a stream, in the server's order; streams that could not be asked come last, `offline` set."""
    rows = [_stream_row(snap, info) for info in snap.infos]
    silent = dict.fromkeys(snap.missing, "no answer") | dict(snap.offline)
    known = {row.stream for row in rows}
    rows.extend(_silent_row(snap, name, why) for name, why in sorted(silent.items()) if name not in known)
    return rows


def replication_rows(snap: Snapshot) -> list[ReplicationRow]:
    """A row for each mirror and source, sources by name and prefix (the server's order changes)."""
    rows: list[ReplicationRow] = []
    for info in snap.infos:
        if mirror := info.get("mirror"):
            rows.append(_replication_row(snap, info, "mirror", mirror))
        sources = [_replication_row(snap, info, "source", one) for one in info.get("sources") or []]
        rows.extend(sorted(sources, key=lambda row: (row.origin, row.api_prefix, row.filters)))
    return rows


def deleted(state: Json) -> int:
    """Messages deleted between the first and the last one."""
    return len(state.get("deleted") or ()) or int(state.get("num_deleted", 0))


def lost(state: Json) -> tuple[int, int]:
    """Messages and bytes lost."""
    gone = state.get("lost") or {}
    return len(gone.get("msgs") or ()), int(gone.get("bytes", 0))


def needed_level(config: Json) -> int:
    """The API level that a configuration needs, from the metadata that the server adds (ADR-44)."""
    level = (config.get("metadata") or {}).get("_nats.req.level", "0")
    return int(level) if level.isdigit() else 0


def when(moment: str | None) -> str | None:
    """An RFC 3339 time, None for the server's zero times."""
    return None if not moment or moment.startswith(("0001-01-01", "1970-01-01T00:00:00Z")) else moment


def filters(source: Json) -> str:
    """What a mirror or source takes, in words."""
    transforms = source.get("subject_transforms") or []
    parts = [
        f"{t.get('src', '')} to {t['dest']}" if t.get("dest") else f"{t.get('src', '')} untransformed"
        for t in transforms
    ]
    if not parts and source.get("filter_subject"):
        parts = [f"{source['filter_subject']} untransformed"]
    return ", ".join(parts)


def active(source: Json) -> int:
    """ns since the origin was last heard of; NEVER when it was not."""
    seen = int(source.get("active", NEVER))
    # Older servers write the largest number for never.
    return NEVER if seen < 0 or seen >= (1 << 63) - 1 else seen


def placement(config: Json) -> str:
    """`cluster: c1 tags: a, b`."""
    wanted = config.get("placement") or {}
    parts = [f"cluster: {wanted['cluster']}"] if wanted.get("cluster") else []
    if wanted.get("tags"):
        parts.append(f"tags: {', '.join(wanted['tags'])}")
    return " ".join(parts)


def peers(cluster: Json) -> tuple[str, ...]:
    """Followers by name; `!` marks one that is offline or behind."""
    return tuple(
        peer["name"] + ("!" if peer.get("offline") or not peer.get("current") else "")
        for peer in sorted(cluster.get("replicas") or [], key=lambda peer: str(peer["name"]))
    )


def _stream_row(snap: Snapshot, info: Json) -> StreamRow:
    config, state, cluster = info["config"], info["state"], info.get("cluster") or {}
    lost_messages, lost_bytes = lost(state)
    return StreamRow(
        snap.context,
        snap.domain,
        config["name"],
        config.get("storage", ""),
        placement(config),
        when(info.get("created")),
        int(config.get("num_replicas", 1)),
        int(state.get("consumer_count", 0)),
        int(state.get("messages", 0)),
        int(state.get("bytes", 0)),
        lost_messages,
        lost_bytes,
        deleted(state),
        int(state.get("num_subjects", 0)),
        int(state.get("first_seq", 0)),
        int(state.get("last_seq", 0)),
        when(state.get("first_ts")),
        when(state.get("last_ts")),
        needed_level(config),
        cluster.get("name"),
        cluster.get("leader"),
        peers(cluster),
        snap.offline.get(config["name"]),
    )


def _silent_row(snap: Snapshot, name: str, why: str) -> StreamRow:
    nothing: dict[str, Any] = {"config": {"name": name}, "state": {}}
    return _stream_row(snap, nothing)._replace(replicas=0, offline=why)


def _replication_row(
    snap: Snapshot, info: Json, kind: Literal["mirror", "source"], source: Json
) -> ReplicationRow:
    error = source.get("error") or {}
    code = error.get("err_code") or error.get("code")
    text = str(error.get("description", ""))
    return ReplicationRow(
        snap.context,
        snap.domain,
        info["config"]["name"],
        kind,
        str((source.get("external") or {}).get("api", "")),
        str(source.get("name", "")),
        filters(source),
        active(source),
        int(source.get("lag", 0)),
        f"{text} ({code})" if text and code else text,
    )
