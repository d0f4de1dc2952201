"""The description of a configuration key."""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple

from jsctl.jetstream.config.kind import Kind


class Change(Enum):
    """Whether the server changes a key of what already exists."""

    ANY = "any"
    NEVER = "never"
    ONLY_ON = "only on"  #: it can be turned on, and not off


class FieldQuestion(NamedTuple):
    """How a questionnaire asks for a key.

    default: the answer that stands there. choices: the titles of a list, and the value of each; without
    any, a text that the key's kind parses is asked for. help: what `?` shows, where the flag's own help is
    too short. note: shown beside the message. flag: what answers it on the command line, where that is not
    the field's flag.
    """

    message: str
    default: str = ""
    choices: Mapping[str, str] = MappingProxyType({})
    help: str = ""
    note: str = ""
    flag: str = ""


class Field(NamedTuple):
    """A key of a configuration, described once for flags, files, questions, differences and sheets.

    key: with those above it, separated by dots: `placement.tags`.
    flag: without dashes; empty where there is none. help: of the flag.
    label: in information sheets. blank: what a sheet shows where the key is missing or empty; None leaves
        the line out.
    create_only: whether the flag is for `add` and `copy` alone.
    level: the API level that the server needs for it (ADR-44).
    initial: what a new configuration has where nothing else was given.
    default: what the server takes for a missing key, and may leave out.
    change: whether the server changes it later.
    turns_on: switches that the server turns on with it (nats-server: checkStreamCfg).
    question: how a questionnaire asks for it; None where none does.
    """

    key: str
    kind: Kind
    flag: str = ""
    help: str = ""
    label: str = ""
    blank: Any = None
    create_only: bool = False
    level: int = 0
    initial: Any = None
    default: Any = None
    change: Change = Change.ANY
    turns_on: tuple[str, ...] = ()
    question: FieldQuestion | None = None

    @property
    def path(self) -> tuple[str, ...]:
        """The key and those above it, outermost first."""
        return tuple(self.key.split("."))


class ExtraFlag(NamedTuple):
    """A flag without a key of its own: it sets several, or says more of another flag. The noun's own code
    applies it.

    kind: of its value. metavar: instead of the kind's. default: the value where it is not given.
    create_only: whether it is for `add` and `copy` alone.
    """

    flag: str
    kind: Kind
    help: str
    metavar: str = ""
    default: Any = None
    create_only: bool = False
