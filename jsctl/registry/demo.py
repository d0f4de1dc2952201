"""The verbs of `jsctl demo`, in the order in which help shows them."""

from jsctl.registry.model import Entry, reads

VERBS: dict[str, Entry] = {
    "guide": reads("Play the leaf node guide: domains, mirrors, two accounts", target="demo.walk:guide"),
    "hub-spokes": reads(
        "Play the leaf node demo: nine servers, an outage, accounts", "spokes", target="demo.walk:hub_spokes"
    ),
}
