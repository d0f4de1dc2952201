"""The verbs of `jsctl errors`, in the order in which help shows them."""

from jsctl.registry.model import Entry, changes, reads

_FILE = "errors.group:"

VERBS: dict[str, Entry] = {
    "ls": reads("List the errors", "list", target=_FILE),
    "lookup": reads("Look up an error by its code", "find", "get", "l", "view", "show", target=_FILE),
    "edit": changes("Edit or add an error in a file", "vi", "add", "new", target=_FILE),
    "validate": reads("Check a file of errors", target=_FILE),
}
