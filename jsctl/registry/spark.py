"""The verbs of `jsctl spark`, in the order in which help shows them."""

from jsctl.registry.model import Entry, changes

VERBS: dict[str, Entry] = {
    "warm-up": changes("Make an archive of Spark's classes, so that Spark starts sooner")
}
