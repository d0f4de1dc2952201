"""What a context is, and the verbs of `jsctl context` in the order in which help shows them."""

from jsctl.registry.model import Entry, changes, destroys, reads
from jsctl.registry.noun_record import Noun

NOUN = Noun(
    name="context",
    argument="NAME",
    label="Context",
    lister="jsctl.contexts.store:list_names",
    not_found="unknown context {name!r}",
    hint=("context ls", "lists the contexts"),
    create=("context add", "creates one"),
    offline=True,
)

_SHORT = "context.group:"

VERBS: dict[str, Entry] = {
    "add": changes("Create or update a context from the global flags", "create", "save"),
    "copy": changes("Copy a context; the global flags change the copy", "cp"),
    "edit": changes("Edit a context in your EDITOR", "vi"),
    "ls": reads("List the contexts", "list", "l"),
    "rm": destroys("Remove a context", "remove"),
    "select": changes("Select the default context", "switch", "set"),
    "unselect": changes("Clear the selection of a context", target=_SHORT),
    "info": reads("Show a context, by default the selected one", "show", "v", "view", target=_SHORT),
    "validate": reads("Check the files, logins and addresses of one context or all"),
    "previous": changes("Select the context that was selected before", "-", target=_SHORT),
}
