"""The verbs of `jsctl export`, in the order in which help shows them."""

from jsctl.registry.model import Entry, verb

VERBS: dict[str, Entry] = {
    "reports": verb("Write reports on streams, consumers, servers and accounts to Spark tables", "report"),
    "stream": verb("Write the messages of streams to Spark tables", "streams"),
    "kv": verb("Write the keys of key-value buckets to Spark tables"),
    "objects": verb("Write the metadata of objects to Spark tables", target="export.kv:objects"),
    "rollup": verb("Roll exported reports up into hourly and daily tables"),
    "query": verb("Query exported tables with Spark SQL", "sql"),
    "compact": verb("Replace many small files of exported tables by a few large ones"),
    "check": verb("Show what an export to a folder or URI needs, and whether it is there"),
    "config": verb("Write existing streams and consumers as a file for jsctl apply"),
}
