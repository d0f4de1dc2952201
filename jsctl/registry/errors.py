"""The verbs of `jsctl errors`, in the order in which help shows them."""

from jsctl.registry.model import Entry, verb

VERBS: dict[str, Entry] = {
    "ls": verb("List the errors", "list"),
    "lookup": verb("Look up an error by its code", "find", "get", "l", "view", "show"),
    "edit": verb("Edit or add an error in a file", "vi", "add", "new"),
    "validate": verb("Check a file of errors"),
}
