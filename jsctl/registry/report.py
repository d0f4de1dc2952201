"""The verbs of `jsctl report`, in the order in which help shows them."""

from jsctl.registry.model import Entry, reads

VERBS: dict[str, Entry] = {
    "history": reads("Show how streams, consumers, replication and servers changed over time"),
}
