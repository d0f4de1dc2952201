"""The verbs of `jsctl report`, in the order in which help shows them."""

from jsctl.registry.model import Entry, verb

VERBS: dict[str, Entry] = {
    "history": verb("Show how streams, consumers, replication and servers changed over time"),
}
