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
    "list": verb("List the counters with their values", "counter.list_:list_", "l", "ls"),
    "get": verb("Show the value of a counter", "counter.get:get", "g"),
    "view": verb("Show a counter and what each source contributes", "counter.view:view", "v"),
    "increment": verb("Add to a counter", "counter.increment:increment", "incr", "i"),
    "decrement": verb("Subtract from a counter", "counter.decrement:decrement", "decr", "d"),
    "watch": verb("Show counters as they change", "counter.watch:watch", "w"),
}
