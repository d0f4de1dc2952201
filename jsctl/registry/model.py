"""The records of the registry."""

from typing import NamedTuple

_COMMANDS = "jsctl.commands."


class Entry(NamedTuple):
    """One command or group.

    help: its one line of help, written here and nowhere else. The command's own help has further
        paragraphs only.
    target: "module:attribute" of a click command. For a group: of a command whose flags (and, with
        `runs`, whose callback) the group takes over; empty for a group without flags.
    runs: a group that does something without a subcommand, too.
    """

    help: str
    target: str = ""
    aliases: tuple[str, ...] = ()
    group: bool = False
    runs: bool = False


class Noun(NamedTuple):
    """A kind of thing that has names: how its names are completed, picked and missed.

    name: one word, "stream".
    argument: how help shows the argument that takes a name of it: "STREAM".
    label: the word in prompts ("Select a Stream").
    lister: "module:function" of an asynchronous function that returns all names. It takes the
        JetStream API and, for a noun with a parent, the parent's name. For an offline noun: a plain
        function that takes the environment's variables.
    not_found: the sentence for a name that does not exist, of {name} and {parent}.
    hint: what to do then; {parent} is empty where it is not known.
    create: what creates one, for when there is none at all.
    parent: the noun that it is part of; a consumer has a stream.
    hidden: "module:function" that says of a name whether lists leave it out unless --all is given.
    error: the ErrorCode of the server for one that does not exist, by its name; empty when there is none.
    offline: whether the names are on this machine.
    """

    name: str
    argument: str
    label: str
    lister: str
    not_found: str
    hint: str
    create: str
    parent: str = ""
    hidden: str = ""
    error: str = ""
    offline: bool = False

    def missing(self, name: str, parent: str = "") -> tuple[str, str]:
        """What to say of a name that does not exist: what is wrong, and what to do."""
        hint = " ".join(self.hint.format(parent=parent).split())
        return self.not_found.format(name=name, parent=parent), hint


def verb(help: str, target: str, *aliases: str) -> Entry:
    """A command. target: "module:attribute" below jsctl.commands."""
    return Entry(help, _COMMANDS + target, aliases)


def group(help: str, target: str = "", aliases: tuple[str, ...] = (), runs: bool = False) -> Entry:
    """A group of commands. target: "module:attribute" below jsctl.commands, or empty."""
    return Entry(help, target and _COMMANDS + target, aliases, group=True, runs=runs)
