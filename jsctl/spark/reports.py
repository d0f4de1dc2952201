"""The tables of `jsctl export reports`: what `jsctl report` shows, one row a stream or link and sample."""

from jsctl.spark.tables import Column, TableSchema

_SAMPLE = (
    Column("sampled_at", "timestamp", "when jsctl asked"),
    Column("context", "string", "the context that was asked, empty for none"),
    Column("domain", "string", "the JetStream domain, empty for the server's own"),
)

STREAMS = TableSchema(
    "streams",
    (
        *_SAMPLE,
        Column("stream", "string", "its name"),
        Column("storage", "string", "file or memory"),
        Column("created", "timestamp", "when it was created"),
        Column("replicas", "long", "replicas that it is configured for"),
        Column("cluster", "string", "its cluster, null on a server without one"),
        Column("leader", "string", "the server that leads it, null on a server without a cluster"),
        Column("consumers", "long", "consumers on it"),
        Column("messages", "long", "messages in it"),
        Column("bytes", "long", "bytes in it"),
        Column("first_seq", "long", "first sequence"),
        Column("last_seq", "long", "last sequence"),
        Column("first_ts", "timestamp", "time of the first message"),
        Column("last_ts", "timestamp", "time of the last message"),
        Column("deleted", "long", "messages deleted between first and last"),
        Column("lost", "long", "messages lost"),
        Column("subjects", "long", "different subjects in it"),
    ),
)

REPLICATION = TableSchema(
    "replication",
    (
        *_SAMPLE,
        Column("stream", "string", "the stream that copies"),
        Column("kind", "string", "mirror or source"),
        Column("origin", "string", "the stream that is copied"),
        Column("api", "string", "API prefix of the origin, empty for the same one"),
        Column("filter", "string", "only these subjects, empty for all"),
        Column("active", "duration", "since the origin was last heard of; null for never"),
        Column("lag", "long", "messages behind the origin"),
        Column("error", "string", "what the server says is wrong"),
    ),
)

SCHEMAS = {schema.name: schema for schema in (STREAMS, REPLICATION)}
