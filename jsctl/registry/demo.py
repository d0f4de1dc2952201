"""The verbs of `jsctl demo`, in the order in which help shows them."""

from jsctl.registry.model import Entry, verb

VERBS: dict[str, Entry] = {
    "guide": verb("Play the leaf node guide: domains, mirrors, two accounts", target="demo.walk:guide"),
    "hub-spokes": verb(
        "Play the leaf node demo: nine servers, an outage, accounts", "spokes", target="demo.walk:hub_spokes"
    ),
}
