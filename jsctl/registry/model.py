"""The registry's entry of a command."""

from typing import NamedTuple

COMMANDS = "jsctl.commands."


class Entry(NamedTuple):
    """One command or group.

    help: its one line of help. The command's docstring holds only further paragraphs.
    target: "module:attribute" of a click command; empty in the file of its noun where its path says it, as
        "stream ls" does stream.ls:ls. For a group, that of a command whose flags (and, with `runs`, whose
        callback) become those of the group; empty for a group without flags.
    runs: whether the group also does something without a subcommand.
    """

    help: str
    target: str = ""
    aliases: tuple[str, ...] = ()
    group: bool = False
    runs: bool = False


def verb(help: str, *aliases: str, target: str = "") -> Entry:
    """Return the entry of a command. target: "module:attribute" below jsctl.commands; see `Entry`."""
    return Entry(help, target and COMMANDS + target, aliases)


def group(help: str, target: str = "", aliases: tuple[str, ...] = (), runs: bool = False) -> Entry:
    """Return the entry of a group of commands. target: "module:attribute" below jsctl.commands, or empty."""
    return Entry(help, target and COMMANDS + target, aliases, group=True, runs=runs)
