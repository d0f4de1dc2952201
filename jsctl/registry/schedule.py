"""The verbs of `jsctl schedule` in the order in which help shows them."""

from jsctl.registry.model import Entry, changes, destroys, reads

VERBS: dict[str, Entry] = {
    "ls": reads("List the schedules of a stream with their next runs", "list"),
    "info": reads("Show a schedule, its next runs and what it has written last", "show"),
    "next": reads("List the next runs of a schedule"),
    "add": changes("Store a message that its stream publishes later, or repeatedly", "new"),
    "rm": destroys("Remove a schedule, or replace it by a message in one step", "del"),
}
