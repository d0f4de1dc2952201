"""The verbs of `jsctl alert`, in the order in which help shows them."""

from jsctl.registry.model import Entry, reads

VERBS: dict[str, Entry] = {
    "diff": reads("Show what a change of alerts would have changed in a recording"),
    "defaults": reads("Print a file of alerts to begin with"),
}
