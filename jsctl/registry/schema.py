"""What a schema is, and the verbs of `jsctl schema` in the order in which help shows them."""

from jsctl.registry.model import Entry, reads
from jsctl.registry.noun_record import Noun

NOUN = Noun(
    name="schema",
    argument="SCHEMA",
    label="Schema",
    lister="jsctl.schema.catalog:list_names",
    not_found="schema {name} not found",
    hint=("schema search", "lists the schemas"),
    create=("", ""),
    offline=True,
    any_text=True,
)

VERBS: dict[str, Entry] = {
    "search": reads("List the schemas whose names match", "find", "list", "ls"),
    "info": reads("Show a schema", "show", "view"),
    "validate": reads("Validate a JSON file against a schema", "check"),
    "request": reads("Send a request, and validate the reply", "req"),
}
