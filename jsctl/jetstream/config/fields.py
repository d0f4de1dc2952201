"""What is known of one key of a configuration."""

from enum import Enum
from typing import Any, NamedTuple

from jsctl.jetstream.config.kind import Kind


class Change(Enum):
    """Whether the server changes a key of what exists already."""

    ANY = "any"
    NEVER = "never"
    ONLY_ON = "only on"  #: it can be turned on, and not off


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

    @property
    def path(self) -> tuple[str, ...]:
        """The key and those above it, outermost first."""
        return tuple(self.key.split("."))
