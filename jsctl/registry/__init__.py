"""The registry of all commands and nouns.

A command has its module, its line of help and its aliases here; a noun has how its names are listed and
reported missing. `top` has the top level, and a file for each noun has its verbs, which is read only when
needed. Nothing here imports other parts of jsctl, so that `jsctl --help` and completion stay fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from jsctl.registry import top
from jsctl.registry.model import Entry

if TYPE_CHECKING:
    from jsctl.registry.noun_record import Noun

__all__ = ["Entry", "all_commands", "children", "noun", "nouns"]


def list_children(path: str) -> dict[str, Entry]:
    """Return the commands directly below `path` ("" for the top level) by name, in the order of help."""
    noun, _, rest = path.partition(" ")
    if not noun:
        return top.VERBS
    prefix = rest + " " if rest else ""
    return {
        name.removeprefix(prefix): entry
        for name, entry in _verbs(noun).items()
        if name.startswith(prefix) and " " not in name.removeprefix(prefix)
    }


def list_commands() -> dict[str, Entry]:
    """Return every command and group by its path ("stream ls"), in the order of help."""
    commands: dict[str, Entry] = {}
    for noun, entry in top.VERBS.items():
        commands[noun] = entry
        if entry.group:
            commands |= {f"{noun} {name}": below for name, below in _verbs(noun).items()}
    return commands


def find_noun(name: str) -> "Noun":
    """Return a noun by its name, such as "stream". Raises KeyError."""
    record: Noun = import_module(f"jsctl.registry.{top.NOUNS[name]}").NOUN
    return record


def list_nouns() -> "list[Noun]":
    """Return all nouns."""
    return [find_noun(name) for name in top.NOUNS]


def _verbs(noun: str) -> dict[str, Entry]:
    """Return the verbs of a noun by their path below it. Imports the noun's file."""
    entry = top.VERBS.get(noun)
    if entry is None or not entry.group:
        return {}
    verbs: dict[str, Entry] = import_module(f"jsctl.registry.{noun}").VERBS
    return verbs
