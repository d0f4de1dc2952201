"""The verbs of `jsctl agent`, in the order in which help shows them."""

from jsctl.registry.model import Entry, changes

VERBS: dict[str, Entry] = {
    "run": changes("Run a command whose calls of jsctl start at once"),
    "start": changes("Start an agent for this shell"),
    "stop": changes("Stop the agent of this shell"),
}
