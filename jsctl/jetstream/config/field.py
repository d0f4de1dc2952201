"""The description of a configuration key."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from jsctl.jetstream.config.kind import Kind


class FieldQuestion(NamedTuple):
    """How a questionnaire asks for a key.

    choices: the titles of a list, and the value of each; without any, the question is for a text that the
    key's kind parses. help: the text that `?` shows, if the flag's own
    help is too short. note: shown beside the message. flag: the one that answers it on the command line, if
    it is not the field's flag.
    """

    message: str
    choices: Mapping[str, str] = MappingProxyType({})
    help: str = ""
    note: str = ""
    flag: str = ""


class Field(NamedTuple):
    """A key of a configuration, described once for flags, files, questions, differences and info pages.

    key: with those above it, separated by dots: `placement.tags`.
    flag: without dashes; empty if there is none, and for that of the key: `max-age` for `max_age`. help: the
        flag's; a field without help has no flag.
    label: in info pages.
    create_only: whether only `add` and `copy` have the flag.
    level: the API level that the server needs for it (ADR-44).
    default: what the server makes of a missing key, which it may leave out, too. It is the answer that a
        question begins with, what a flag means that is left out, and what an info page shows; in a file it is
        the same as no such key; and it is not sent unless a flag or file names it. None for nothing.
    is_fixed: whether the server refuses to change it later.
    turns_on: switches that the server turns on with it (nats-server: checkStreamCfg).
    question: how a questionnaire asks for it; None if none does.
    """

    key: str
    kind: Kind
    flag: str = ""
    help: str = ""
    label: str = ""
    create_only: bool = False
    level: int = 0
    default: Any = None
    is_fixed: bool = False
    turns_on: tuple[str, ...] = ()
    question: FieldQuestion | None = None

    @property
    def path(self) -> tuple[str, ...]:
        """The key and those above it, outermost first."""
        return tuple(self.key.split("."))

    def with_flag(self) -> "Field":
        """Return the field with the flag that it has by its key, if it names no other."""
        return self if self.flag or not self.help else self._replace(flag=self.key.replace("_", "-"))


class ExtraFlag(NamedTuple):
    """A flag without a key of its own: it sets several keys, or qualifies another flag. The noun's own code
    applies it.

    kind: its value's. metavar: replaces the kind's. default: the value when the flag is missing.
    create_only: whether only `add` and `copy` have it.
    """

    flag: str
    kind: Kind
    help: str
    metavar: str = ""
    default: Any = None
    create_only: bool = False
