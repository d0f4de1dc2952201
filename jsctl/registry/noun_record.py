"""The record of a noun."""

from collections.abc import Sequence
from typing import NamedTuple

from jsctl.similar_names import find_nearest


class Noun(NamedTuple):
    """A kind of thing that has names: how the names are completed, picked from a list and reported missing.

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
    any_text: whether names may hold any characters; the domain checks them then.
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
    any_text: bool = False

    def missing(self, name: str, parent: str = "", known: Sequence[str] = ()) -> tuple[str, str]:
        """Return an error text for a name that does not exist: what is wrong, and what to do.

        known: the names that exist; the one most like it is suggested.
        """
        hint = " ".join(self.hint.format(parent=parent).split())
        if near := find_nearest(name, known):
            hint = f"did you mean {near}? {hint}"
        return self.not_found.format(name=name, parent=parent), hint
