"""What a counter is, and the verbs of `jsctl counter` in the order in which help shows them."""

from jsctl.registry.model import Entry, verb
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
    "list": verb("List the counters with their values", "l", "ls", target="counter.list_:list_"),
    "get": verb("Show the value of a counter", "g"),
    "view": verb("Show a counter and what each source contributes", "v"),
    "increment": verb("Add to a counter", "incr", "i"),
    "decrement": verb("Subtract from a counter", "decr", "d"),
    "watch": verb("Show counters as they change", "w"),
}
