"""The tables of `jsctl export reports`: what `jsctl report` shows, a row a stream, link, consumer or server
and sample."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.monitor.consumer.rows import consumer_row
from jsctl.monitor.report.overview import fetch_consumers
from jsctl.monitor.server.requests import fetch_jetstream
from jsctl.monitor.server.rows import jetstream_row
from jsctl.monitor.stream.rows import Snapshot, fetch_snapshot, replication_rows, stream_rows
from jsctl.spark.export.tables import Column, TableSchema
from jsctl.units import NEVER

_SAMPLE = (
    Column("sampled_at", "timestamp", "when the server had answered"),
    Column("context", "string", "the context that was asked, empty for none"),
    Column("domain", "string", "the JetStream domain, empty where there is none"),
)
_GROUP = (
    Column("cluster", "string", "its cluster, null on a server without one"),
    Column("leader", "string", "the server that leads it, null when nobody does"),
    Column("peers", "string", "followers, comma separated; `!` after one that is offline or behind"),
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
        *_GROUP,
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
        *_GROUP,
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
        replies = await fetch_jetstream(api.connection)
    except JsctlError:
        replies = []
    try:
        snap = await fetch_snapshot(api)
        having = [info["config"]["name"] for info in snap.infos if info["state"].get("consumer_count")]
        consumers = await fetch_consumers(api, having)
    except JsctlError:
        if not replies:
            raise
        return Sample(Snapshot(datetime.now(UTC), domain=api.domain), (), replies)
    return Sample(snap, consumers, replies)


def rows(samples: Iterable[Sample]) -> dict[str, Sequence[Mapping[str, Any]]]:
    """Samples as rows of the tables."""
    found: dict[str, list[Mapping[str, Any]]] = {name: [] for name in SCHEMAS}
    for snap, consumers, replies in samples:
        configs = {info["config"]["name"]: info["config"] for info in snap.infos}
        for row in stream_rows(snap):
            config = configs.get(row.stream, {})
            limits = {
                "max_messages": _limit(config.get("max_msgs")),
                "max_bytes": _limit(config.get("max_bytes")),
            }
            found["streams"].append(_record(snap, row) | limits)
        for info in consumers:
            delivered = info.get("delivered") or {}
            found["consumers"].append(
                _record(snap, consumer_row(info, 0))
                | {
                    "delivered": int(delivered.get("consumer_seq", 0)),
                    "delivered_seq": int(delivered.get("stream_seq", 0)),
                }
            )
        found["servers"] += [
            _record(snap, server) | {"domain": server.domain} for server in map(jetstream_row, replies)
        ]
        found["replication"] += [_record(snap, link) for link in replication_rows(snap)]
    return dict(found)


def _record(snap: Snapshot, row: NamedTuple) -> dict[str, Any]:
    """A row of a report as one of a table: what never was is null, peers are one text."""
    record = row._asdict()
    for key in record.keys() & {"active", "ack_age"}:
        record[key] = None if record[key] == NEVER else record[key]
    if "peers" in record:
        record["peers"] = ", ".join(record["peers"])
    return record | {"sampled_at": snap.at, "context": snap.context, "domain": snap.domain}


def _limit(value: int | None) -> int | None:
    return value if value and value > 0 else None
