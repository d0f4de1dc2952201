"""The tables of `jsctl export reports`: what `jsctl report` shows, a row a stream or link and sample."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jsctl.jetstream.reports import NEVER, Snapshot, replication_rows, stream_rows
from jsctl.spark.tables import Column, TableSchema

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

SCHEMAS = {schema.name: schema for schema in (STREAMS, REPLICATION)}


def rows(snapshots: Iterable[Snapshot]) -> dict[str, Sequence[Mapping[str, Any]]]:
    """Snapshots as rows of the tables."""
    found: dict[str, list[Mapping[str, Any]]] = {name: [] for name in SCHEMAS}
    for snap in snapshots:
        for stream in stream_rows(snap):
            found["streams"].append(
                {**stream._asdict(), "peers": ", ".join(stream.peers), "sampled_at": snap.at}
            )
        for link in replication_rows(snap):
            active = None if link.active == NEVER else link.active
            found["replication"].append({**link._asdict(), "active": active, "sampled_at": snap.at})
    return dict(found)
