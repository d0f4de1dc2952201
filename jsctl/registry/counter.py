"""What a counter is, and the verbs of `jsctl counter` in the order in which help shows them."""

from jsctl.registry.model import Entry, changes, reads
from jsctl.registry.noun_record import Noun

NOUN = Noun(
    name="counter",
    argument="SUBJECT",
    label="Counter",
    lister="jsctl.jetstream.counter.counters:list_names",
    not_found="counter {name} not found",
    hint=("counter list", "lists the counters; a stream with --allow-counter holds them"),
    create=("counter increment", "creates one"),
)

VERBS: dict[str, Entry] = {
    "list": reads("List the counters with their values", "l", "ls", target="counter.group:list_"),
    "get": reads("Show the value of a counter", "g"),
    "view": reads("Show a counter and what each source contributes", "v"),
    "increment": changes("Add to a counter", "incr", "inc", "i"),
    "decrement": changes("Subtract from a counter", "decr", "dec", "d"),
    "watch": reads("Show counters as they change", "w", own=True),
}
