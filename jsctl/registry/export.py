"""The verbs of `jsctl export`, in the order in which help shows them."""

from jsctl.registry.model import Entry, reads

VERBS: dict[str, Entry] = {
    "reports": reads("Write reports on streams, consumers, servers and accounts to Spark tables", "report"),
    "stream": reads("Write the messages of streams to Spark tables", "streams"),
    "kv": reads("Write the keys of key-value buckets to Spark tables"),
    "objects": reads("Write the metadata of objects to Spark tables", target="export.kv:objects"),
    "rollup": reads("Roll exported reports up into hourly and daily tables"),
    "query": reads("Query exported tables with Spark SQL", "sql"),
    "compact": reads("Replace many small files of exported tables by a few large ones"),
    "check": reads("Show what an export to a folder or URI needs, and whether it is there"),
    "config": reads("Write existing streams and consumers as a file for jsctl apply"),
}
