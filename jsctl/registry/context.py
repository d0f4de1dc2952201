"""What a context is, and the verbs of `jsctl context` in the order in which help shows them."""

from jsctl.registry.model import Entry, verb
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

VERBS: dict[str, Entry] = {
    "add": verb("Create or update a context from the global flags", "create", "save"),
    "copy": verb("Copy a context; the global flags change the copy", "cp"),
    "edit": verb("Edit a context in your EDITOR", "vi"),
    "ls": verb("List the contexts", "list", "l"),
    "rm": verb("Remove a context", "remove"),
    "select": verb("Select the default context", "switch", "set"),
    "unselect": verb("Clear the selection of a context"),
    "info": verb("Show a context, by default the selected one", "show", "v", "view"),
    "validate": verb("Check the files, logins and addresses of one context or all"),
    "previous": verb("Select the context that was selected before", "-"),
}
