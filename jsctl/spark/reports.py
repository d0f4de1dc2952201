"""The tables of `jsctl export reports`: what `jsctl report` shows, a row a stream, link, consumer or server
and sample."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from jsctl.errors import JsctlError
from jsctl.jetstream import consumer_reports, servers
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.overview import overview
from jsctl.jetstream.reports import NEVER, Snapshot, replication_rows, stream_rows
from jsctl.spark.tables import Column, TableSchema
from jsctl.views.servers import row_of

_SAMPLE = (
    Column("sampled_at", "timestamp", "when the server had answered"),
    Column("context", "string", "the context that was asked, empty for none"),
    Column("domain", "string", "the JetStream domain, empty where there is none"),
)

STREAMS = TableSchema(
    "streams",
    (
        *_SAMPLE,
        Column("stream", "string", "its name"),
        Column("storage", "string", "file or memory"),
        Column("placement", "string", "cluster and tags that it asks for"),
        Column("created", "timestamp", "when it was created"),
        Column("replicas", "long", "replicas that it is configured for"),
        Column("consumers", "long", "consumers on it"),
        Column("messages", "long", "messages in it"),
        Column("bytes", "long", "bytes in it"),
        Column("lost", "long", "messages lost"),
        Column("lost_bytes", "long", "bytes lost"),
        Column("deleted", "long", "messages deleted between the first and the last one"),
        Column("subjects", "long", "different subjects in it"),
        Column("first_seq", "long", "first sequence"),
        Column("last_seq", "long", "last sequence"),
        Column("first_ts", "timestamp", "time of the first message"),
        Column("last_ts", "timestamp", "time of the last message"),
        Column("api_level", "long", "JetStream API level that its configuration needs"),
        Column("cluster", "string", "its cluster, null on a server without one"),
        Column("leader", "string", "the server that leads it, null when nobody does"),
        Column("peers", "string", "followers, comma separated; `!` after one that is offline or behind"),
        Column("offline", "string", "why it cannot be reached, null when it can"),
        Column("max_messages", "long", "most messages that it keeps, null for no limit"),
        Column("max_bytes", "long", "most bytes that it keeps, null for no limit"),
    ),
)

REPLICATION = TableSchema(
    "replication",
    (
        *_SAMPLE,
        Column("stream", "string", "the stream that copies"),
        Column("kind", "string", "mirror or source"),
        Column("api_prefix", "string", "API prefix of the origin, empty for the same domain and account"),
        Column("origin", "string", "the stream that is copied"),
        Column("filters", "string", "what is copied and under which subjects, empty for all"),
        Column("active", "duration", "since the origin was last heard of, null when it never was"),
        Column("lag", "long", "messages behind the origin"),
        Column("error", "string", "what the server says is wrong, empty for nothing"),
    ),
)

CONSUMERS = TableSchema(
    "consumers",
    (
        *_SAMPLE,
        Column("stream", "string", "its stream"),
        Column("consumer", "string", "its name"),
        Column("mode", "string", "pull or push"),
        Column("ack_policy", "string", "none, all or explicit"),
        Column("delivered", "long", "messages delivered since it was made, redelivered ones too"),
        Column("delivered_seq", "long", "stream sequence of the last one delivered"),
        Column("ack_floor", "long", "stream sequence up to which all is acknowledged"),
        Column("ack_pending", "long", "messages delivered and not acknowledged"),
        Column("max_ack_pending", "long", "most of these, -1 for no limit"),
        Column("redelivered", "long", "of these, delivered more than once"),
        Column("unprocessed", "long", "messages not delivered yet: its lag"),
        Column("ack_age", "duration", "since the last acknowledgement, null for none"),
        Column("waiting", "long", "pulls that wait"),
        Column("bound", "boolean", "push: somebody listens"),
        Column("paused_until", "timestamp", "null when it is not paused"),
        Column("cluster", "string", "its cluster, null on a server without one"),
        Column("leader", "string", "the server that leads it, null when nobody does"),
        Column("peers", "string", "followers, as for streams"),
    ),
)

SERVERS = TableSchema(
    "servers",
    (
        *_SAMPLE,
        Column("server", "string", "its name"),
        Column("cluster", "string", "its cluster, empty for none"),
        Column("streams", "long", "streams on it"),
        Column("consumers", "long", "consumers on it"),
        Column("messages", "long", "messages on it"),
        Column("bytes", "long", "bytes of these"),
        Column("memory", "long", "bytes used in memory"),
        Column("file", "long", "bytes used in files"),
        Column("api", "long", "API requests since it started"),
        Column("errors", "long", "of these, that failed"),
        Column("pending", "long", "meta operations that wait"),
        Column("leads", "boolean", "it leads the meta group"),
        Column("stream_leaders", "long", "streams that it leads"),
        Column("consumer_leaders", "long", "consumers that it leads"),
    ),
)
"""Rows only from a login of the system account."""

SCHEMAS = {schema.name: schema for schema in (STREAMS, REPLICATION, CONSUMERS, SERVERS)}


class Sample(NamedTuple):
    """One domain at one time. consumers: CONSUMER.LIST entries. servers: replies to PING.JSZ."""

    snap: Snapshot
    consumers: Sequence[Json] = ()
    servers: Sequence[Json] = ()


async def take(api: Api) -> Sample:
    """Ask for all tables. A login of the system account has servers and no streams, others have no servers;
    what is raised where there is neither is what asking for the streams raises."""
    try:
        replies = await servers.jetstream(api.connection)
    except JsctlError:
        replies = []
    try:
        found = await overview(api, consumers=True)
    except JsctlError:
        if not replies:
            raise
        return Sample(Snapshot(datetime.now(UTC), domain=api.domain), (), replies)
    return Sample(found.snap, found.consumers or (), replies)


def rows(samples: Iterable[Sample]) -> dict[str, Sequence[Mapping[str, Any]]]:
    """Samples as rows of the tables."""
    found: dict[str, list[Mapping[str, Any]]] = {name: [] for name in SCHEMAS}
    for snap, consumers, replies in samples:
        limits = {info["config"]["name"]: info["config"] for info in snap.infos}
        where = {"sampled_at": snap.at, "context": snap.context, "domain": snap.domain}
        for stream in stream_rows(snap):
            config = limits.get(stream.stream, {})
            found["streams"].append(
                {
                    **stream._asdict(),
                    "peers": ", ".join(stream.peers),
                    "sampled_at": snap.at,
                    "max_messages": _limit(config.get("max_msgs")),
                    "max_bytes": _limit(config.get("max_bytes")),
                }
            )
        for info in consumers:
            one = consumer_reports.row(info, 0)
            delivered = info.get("delivered") or {}
            found["consumers"].append(
                {
                    **one._asdict(),
                    **where,
                    "peers": ", ".join(one.peers),
                    "ack_age": None if one.ack_age == NEVER else one.ack_age,
                    "delivered": int(delivered.get("consumer_seq", 0)),
                    "delivered_seq": int(delivered.get("stream_seq", 0)),
                }
            )
        for reply in replies:
            server = row_of(reply)._asdict()
            found["servers"].append({**server, **where, "domain": server["domain"]})
        for link in replication_rows(snap):
            active = None if link.active == NEVER else link.active
            found["replication"].append({**link._asdict(), "active": active, "sampled_at": snap.at})
    return dict(found)


def _limit(value: int | None) -> int | None:
    return value if value and value > 0 else None
