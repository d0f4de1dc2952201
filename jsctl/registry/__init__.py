"""Every command: where it lives, its line of help, its aliases; and every noun: what its names are.

`top` has the top level; a file for each noun has the verbs of that noun, read only when they are needed.
Nothing here imports other parts of jsctl, so that `jsctl --help` and completion stay fast.
"""

from importlib import import_module

from jsctl.registry import top
from jsctl.registry.model import Entry, Noun

__all__ = ["Entry", "Noun", "all_commands", "children", "noun", "nouns"]


def children(path: str) -> dict[str, Entry]:
    """The commands directly below `path` ("" for the top level), by name, in the order of help."""
    noun, _, rest = path.partition(" ")
    if not noun:
        return top.VERBS
    prefix = rest + " " if rest else ""
    return {
        name.removeprefix(prefix): entry
        for name, entry in _verbs(noun).items()
        if name.startswith(prefix) and " " not in name.removeprefix(prefix)
    }


def all_commands() -> dict[str, Entry]:
    """Every command and group by its path ("stream ls"), in the order of help."""
    commands: dict[str, Entry] = {}
    for noun, entry in top.VERBS.items():
        commands[noun] = entry
        if entry.group:
            commands |= {f"{noun} {name}": below for name, below in _verbs(noun).items()}
    return commands


def noun(name: str) -> Noun:
    """The noun of this name, "stream" for one. Raises KeyError."""
    noun: Noun = import_module(f"jsctl.registry.{top.NOUNS[name]}").NOUN
    return noun


def nouns() -> list[Noun]:
    """Every noun."""
    return [noun(name) for name in top.NOUNS]


def _verbs(noun: str) -> dict[str, Entry]:
    """The verbs of a noun by their path below it. Reads the noun's file; empty for a noun without verbs."""
    entry = top.VERBS.get(noun)
    if entry is None or not entry.group:
        return {}
    verbs: dict[str, Entry] = import_module(f"jsctl.registry.{noun}").VERBS
    return verbs
