"""The registry's entry of a command."""

from typing import NamedTuple

COMMANDS = "jsctl.commands."


READS, CHANGES, DESTROYS = "reads", "changes", "destroys"
"""What a verb may do to servers, and to the contexts, stores and networks of this machine: nothing but read,
beside writing the files that it is told to write; change something; or remove something for good.
"""

USER, SYSTEM = "user", "system"
"""Whose login a verb needs: that of any account, or one of the system account or of the operator's keys."""


class Entry(NamedTuple):
    """One command or group.

    help: its one line of help, at most 80 characters. The command's docstring holds only further paragraphs.
    target: "module:attribute" of a click command. In the file of its noun empty where its path says it, as
        "stream ls" does stream.ls:ls, or "module:" where its last word is the attribute. For a group, that of
        a command whose flags (and, with `runs`, whose callback) become those of the group; empty for a group
        without flags, "module:" for one whose verbs are all in that file.
    runs: whether the group also does something without a subcommand.
    impact: READS, CHANGES or DESTROYS. scope: USER or SYSTEM; empty for that of its noun.
    is_own: whether `nats` does not have it; so do the commands of such a group.
    replaced_by: the command that an old name stands for. It works, warns on a terminal, and is in no help.
    default: the verb of a group that an argument which is no verb belongs to, as in an older form of it.
    changes_with: the flag with which a verb that otherwise reads changes something ("--fix"); empty for none.
    """

    help: str
    target: str = ""
    aliases: tuple[str, ...] = ()
    group: bool = False
    runs: bool = False
    impact: str = READS
    scope: str = ""
    is_own: bool = False
    replaced_by: str = ""
    default: str = ""
    changes_with: str = ""


def reads(
    help: str, *aliases: str, target: str = "", scope: str = "", own: bool = False, changes_with: str = ""
) -> Entry:
    """Return the entry of a verb that changes nothing, unless it has the flag `changes_with`.

    help: at most 80 characters. target: "module:attribute" below jsctl.commands. scope, own: see `Entry`.
    """
    path = target and COMMANDS + target
    return Entry(help, path, aliases, scope=scope, is_own=own, changes_with=changes_with)


def changes(help: str, *aliases: str, target: str = "", scope: str = "", own: bool = False) -> Entry:
    """Return the entry of a verb that changes something."""
    return reads(help, *aliases, target=target, scope=scope, own=own)._replace(impact=CHANGES)


def destroys(help: str, *aliases: str, target: str = "", scope: str = "", own: bool = False) -> Entry:
    """Return the entry of a verb that may remove something for good."""
    return reads(help, *aliases, target=target, scope=scope, own=own)._replace(impact=DESTROYS)


def old_name(replaced_by: str, *aliases: str) -> Entry:
    """Return the entry of an older name of a command."""
    return Entry("", "", aliases, replaced_by=replaced_by)


def group(
    help: str,
    target: str = "",
    aliases: tuple[str, ...] = (),
    runs: bool = False,
    impact: str = READS,
    scope: str = "",
    own: bool = False,
    default: str = "",
) -> Entry:
    """Return the entry of a group of commands. target: as in `Entry`, below jsctl.commands."""
    path = target and COMMANDS + target
    return Entry(help, path, aliases, True, runs, impact, scope, is_own=own, default=default)
