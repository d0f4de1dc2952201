"""Declared streams with their consumers, and the places that they belong to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jsctl.jetstream.config.kind import Json
from jsctl.jetstream.config.schema import without_metadata
from jsctl.jetstream.declared.buckets import BucketKind

LABEL = "jsctl.label"
"""The metadata key that marks what a file with `label:` created."""


def without_label(config: Json) -> Json:
    """Return the configuration for a copy, without the label: no file declares the copy, and --prune must not
    remove it."""
    return without_metadata(config, lambda key: key == LABEL)


@dataclass(frozen=True, slots=True)
class Place:
    """Where streams are: a context (empty: the one of the command line), a JetStream domain in it (None: the
    context's), and an account of an operator in `jsctl auth` (empty: the account of the context's login)."""

    context: str = ""
    domain: str | None = None
    account: str = ""


@dataclass(frozen=True, slots=True)
class Consumer:
    """A declared consumer.

    config: the declared keys in the server's form; None removes a key. position: file:line.
    """

    name: str
    config: Json
    position: str


@dataclass(frozen=True, slots=True)
class Stream:
    """A declared stream. config, position: as in Consumer. label: empty if the file has none.

    kind: set if it was declared as a bucket, whose own keys the configuration then has.
    """

    name: str
    config: Json
    position: str
    place: Place
    label: str = ""
    consumers: Sequence[Consumer] = ()
    kind: BucketKind | None = None


@dataclass(frozen=True, slots=True)
class Declared:
    """The declarations of all files. labels: by place, the labels whose streams and consumers --prune may
    remove."""

    streams: Sequence[Stream]
    labels: Mapping[Place, frozenset[str]] = field(default_factory=dict)

    @property
    def places(self) -> list[Place]:
        """All places, each once."""
        return list(dict.fromkeys([*(stream.place for stream in self.streams), *self.labels]))
