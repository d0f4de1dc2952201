"""The verbs of `jsctl export`, in the order in which help shows them."""

from jsctl.registry.model import Entry, verb

VERBS: dict[str, Entry] = {
    "reports": verb(
        "Write reports on streams, consumers, servers and accounts to Spark tables",
        "export.reports:reports",
        "report",
    ),
    "stream": verb("Write the messages of streams to Spark tables", "export.stream:stream", "streams"),
    "kv": verb("Write the keys of key-value buckets to Spark tables", "export.kv:kv"),
    "objects": verb("Write the metadata of objects to Spark tables", "export.kv:objects"),
    "rollup": verb("Roll exported reports up into hourly and daily tables", "export.rollup:rollup"),
    "query": verb("Query exported tables with Spark SQL", "export.query:query", "sql"),
    "compact": verb(
        "Replace many small files of exported tables by a few large ones", "export.compact:compact"
    ),
    "check": verb(
        "Show what an export to a folder or URI needs, and whether it is there", "export.check:check"
    ),
    "config": verb("Write existing streams and consumers as a file for jsctl apply", "export.config:config"),
}
