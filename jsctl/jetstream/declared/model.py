"""What files declare: streams with their consumers, and where they belong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jsctl.jetstream.stream.config import without_metadata

Json = dict[str, Any]

LABEL = "jsctl.label"
"""The metadata key that marks what a file with `label:` has made."""


def unlabelled(config: Json) -> Json:
    """The configuration of a copy, which no file declares: --prune leaves it alone."""
    return without_metadata(config, lambda key: key == LABEL)


@dataclass(frozen=True, slots=True)
class Place:
    """A context (empty: the one of the command line) and a JetStream domain in it (None: the context's)."""

    context: str = ""
    domain: str | None = None


@dataclass(frozen=True, slots=True)
class Consumer:
    """config: the declared keys in the server's form; None takes a key away. at: file:line."""

    name: str
    config: Json
    at: str


@dataclass(frozen=True, slots=True)
class Stream:
    """A declared stream. label: empty where the file has none."""

    name: str
    config: Json
    at: str
    place: Place
    label: str = ""
    consumers: Sequence[Consumer] = ()


@dataclass(frozen=True, slots=True)
class Declared:
    """All that the files say. labels: by place, those whose leftovers --prune may remove."""

    streams: Sequence[Stream]
    labels: Mapping[Place, frozenset[str]] = field(default_factory=dict)

    @property
    def places(self) -> list[Place]:
        """Every place, each once."""
        return list(dict.fromkeys([*(stream.place for stream in self.streams), *self.labels]))
