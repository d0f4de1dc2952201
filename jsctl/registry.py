"""Every command: where it lives, one line of help, its aliases. Imports nothing of jsctl, so that
`jsctl --help` and completion stay fast; a test checks each line against the command it names."""

from typing import NamedTuple


class Entry(NamedTuple):
    """One command or group.

    target: "module:attribute" of a click command; for a group, of a command whose options (and, with
    `runs`, whose callback) the group takes over. Empty for a plain group.
    """

    help: str
    target: str = ""
    aliases: tuple[str, ...] = ()
    group: bool = False
    runs: bool = False  #: a group that does something without a subcommand


def _group(help: str, *aliases: str, target: str = "", runs: bool = False) -> Entry:
    return Entry(help, target, aliases, True, runs)


def _verb(help: str, target: str, *aliases: str) -> Entry:
    return Entry(help, "jsctl.commands." + target, aliases)


COMMANDS: dict[str, Entry] = {
    "stream": _group(
        "JetStream streams", "str", "st", "ms", "s", target="jsctl.commands.stream.group:stream"
    ),
    "stream ls": _verb("List the streams", "stream.ls:ls", "list", "l"),
    "export": _group("Streams and reports into Spark tables"),
    "export query": _verb("Ask exported tables with Spark SQL", "export.query:query", "sql"),
}
"""In the order in which help shows them."""


def children(path: str) -> dict[str, Entry]:
    """The commands directly below `path` ("" for the top level), by name, in order."""
    prefix = path + " " if path else ""
    return {
        name[len(prefix) :]: entry
        for name, entry in COMMANDS.items()
        if name.startswith(prefix) and " " not in name[len(prefix) :]
    }
