"""The verbs of `jsctl audit`, in the order in which help shows them."""

from jsctl.registry.model import Entry, reads

VERBS: dict[str, Entry] = {
    "gather": reads("Gather monitoring data of all servers into an archive", "capture", "cap"),
    "analyze": reads("Check an archive for what is wrong"),
    "checks": reads("List the checks", "ls"),
}
