"""The verbs of `jsctl errors`, in the order in which help shows them."""

from jsctl.registry.model import Entry, changes, reads

VERBS: dict[str, Entry] = {
    "ls": reads("List the errors", "list"),
    "lookup": reads("Look up an error by its code", "find", "get", "l", "view", "show"),
    "edit": changes("Edit or add an error in a file", "vi", "add", "new"),
    "validate": reads("Check a file of errors"),
}
