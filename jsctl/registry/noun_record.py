"""The record of a noun."""

from collections.abc import Sequence
from typing import NamedTuple

from jsctl.base.command_lines import build_line
from jsctl.base.similar_names import find_nearest


class Noun(NamedTuple):
    """A noun: how the names of such things are completed, chosen from a list and reported missing.

    name: one word, "stream".
    argument: the argument in help that takes such a name: "STREAM".
    label: the word in prompts ("Select a Stream").
    lister: "module:function" of an asynchronous function that returns all names. It takes the
        JetStream API and, for a noun with a parent, the parent's name. For an offline noun: a plain
        function that takes the environment's variables.
    not_found: the sentence for a name that does not exist, with {name} and {parent}.
    hint: what to do then: a verb, which takes the parent, and what it does.
    create: a verb that creates one, and what it does, shown when there are none at all.
    parent: the noun that it belongs to; a consumer belongs to a stream.
    hidden: "module:function" that returns whether lists leave out a name unless --all is given.
    error: the name of the ErrorCode of servers for one that does not exist; empty when there is none.
    offline: whether the names are kept on this machine.
    any_text: whether names may contain any characters; the code of the noun then checks them.
    """

    name: str
    argument: str
    label: str
    lister: str
    not_found: str
    hint: tuple[str, str]
    create: tuple[str, str]
    parent: str = ""
    hidden: str = ""
    error: str = ""
    offline: bool = False
    any_text: bool = False

    def format_hint(self, parent: str = "") -> str:
        """Return what to do about a name that does not exist. parent: empty when it is unknown."""
        verb, does = self.hint
        return f"{build_line(verb, *([parent] if parent and self.parent else []))} {does}"

    def format_create(self) -> str:
        """Return what to do when there are none at all."""
        verb, does = self.create
        return f"{build_line(verb)} {does}"

    def missing(
        self, name: str, parent: str = "", existing: Sequence[str] = (), domain: str = ""
    ) -> tuple[str, str]:
        """Return an error text for a name that does not exist: what is wrong, and what to do.

        existing: the names that exist; the one most like it is suggested. domain: the JetStream domain that
        the user named.
        """
        hint = self.format_hint(parent)
        if nearest := find_nearest(name, existing):
            hint = f"did you mean {nearest}? {hint}"
        where = f" in domain {domain}" if domain else ""
        return self.not_found.format(name=name, parent=parent) + where, hint
