"""The registry of all commands and nouns.

The entry of a command has its module, its line of help and its aliases; the record of a noun says how its
names are listed and reported missing. `top` holds the top level, and a file for each noun its verbs, which is
imported only when needed. Nothing here imports larger parts of jsctl, so that `jsctl --help` and completion
stay fast.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from jsctl.registry import top
from jsctl.registry.model import COMMANDS, USER, Entry

if TYPE_CHECKING:
    from jsctl.registry.noun_record import Noun

__all__ = ["Entry", "find_noun", "is_first", "list_children", "list_commands", "list_groups", "list_nouns"]


@cache
def list_children(path: str, *, old: bool = False) -> Mapping[str, Entry]:
    """Return the commands directly below `path` ("" for the top level) by name, in the order of help.

    old: with older names.
    """
    noun, _, rest = path.partition(" ")
    prefix = rest + " " if rest else ""
    return {
        name.removeprefix(prefix): entry
        for name, entry in _load_verbs(noun).items()
        if name.startswith(prefix) and " " not in name.removeprefix(prefix)
        if old or not entry.replaced_by
    }


def list_commands() -> dict[str, Entry]:
    """Return every command and group by its path ("stream ls"), in the order of help, without older names."""
    commands: dict[str, Entry] = {}
    for noun, entry in _load_verbs("").items():
        commands[noun] = entry
        if entry.group:
            commands |= {f"{noun} {name}": below for name, below in _load_verbs(noun).items()}
    return {path: entry for path, entry in commands.items() if not entry.replaced_by}


def list_groups() -> dict[str, tuple[str, ...]]:
    """Return the names of the top level's commands by the title above them in help."""
    return top.GROUPS


def is_first(name: str) -> bool:
    """Return whether `jsctl --help` describes a command of the top level."""
    return name in top.FIRST


def find_noun(name: str) -> "Noun":
    """Return a noun by its name, such as "stream". Raises KeyError."""
    file, _, attribute = top.NOUNS[name].partition(":")
    record: Noun = getattr(import_module(f"jsctl.registry.{file}"), attribute)
    return record


def list_nouns() -> "list[Noun]":
    """Return all nouns."""
    return [find_noun(name) for name in top.NOUNS]


@cache
def _load_verbs(noun: str) -> dict[str, Entry]:
    """Import the file of a noun, and return its verbs by their path below it; "" stands for the top level."""
    verbs: dict[str, Entry] = top.VERBS
    if noun:
        if noun not in top.VERBS or not top.VERBS[noun].group:
            return {}
        verbs = import_module(f"jsctl.registry.{noun}").VERBS
    head = top.VERBS.get(noun)
    scope = head.scope if head else ""
    return {
        name: _complete(f"{noun} {name}".split(), entry, verbs.get(name.rpartition(" ")[0], head), scope)
        for name, entry in verbs.items()
    }


def _complete(path: Sequence[str], entry: Entry, parent: Entry | None, scope: str) -> Entry:
    """Return an entry with its target and scope: those of its path, group and noun, unless it has its own."""
    entry = entry._replace(scope=entry.scope or scope or USER)
    if entry.replaced_by or entry.target.partition(":")[2]:
        return entry
    if entry.group:
        return entry._replace(target="")
    words = [word.replace("-", "_") for word in path]
    file = entry.target or (parent.target if parent and parent.target.endswith(":") else "")
    return entry._replace(target=f"{file or COMMANDS + '.'.join(words) + ':'}{words[-1]}")
