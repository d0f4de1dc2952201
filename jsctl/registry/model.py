"""The registry's entry of a command."""

from typing import NamedTuple

_COMMANDS = "jsctl.commands."


class Entry(NamedTuple):
    """One command or group.

    help: its one line of help. The command's docstring holds only further paragraphs.
    target: "module:attribute" of a click command. For a group, that of a command whose flags (and, with
        `runs`, whose callback) become those of the group; empty for a group without flags.
    runs: whether the group also does something without a subcommand.
    """

    help: str
    target: str = ""
    aliases: tuple[str, ...] = ()
    group: bool = False
    runs: bool = False


def verb(help: str, target: str, *aliases: str) -> Entry:
    """Return the entry of a command. target: "module:attribute" below jsctl.commands."""
    return Entry(help, _COMMANDS + target, aliases)


def group(help: str, target: str = "", aliases: tuple[str, ...] = (), runs: bool = False) -> Entry:
    """Return the entry of a group of commands. target: "module:attribute" below jsctl.commands, or empty."""
    return Entry(help, target and _COMMANDS + target, aliases, group=True, runs=runs)
