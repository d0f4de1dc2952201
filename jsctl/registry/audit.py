"""The verbs of `jsctl audit`, in the order in which help shows them."""

from jsctl.registry.model import Entry, verb

VERBS: dict[str, Entry] = {
    "gather": verb("Gather monitoring data of all servers into an archive", "capture", "cap"),
    "analyze": verb("Check an archive for what is wrong"),
    "checks": verb("List the checks", "ls"),
}
