"""What files declare: streams with their consumers, and the places that they belong to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jsctl.jetstream.config.kind import Json
from jsctl.jetstream.config.schema import without_metadata
from jsctl.jetstream.declared.buckets import BucketKind

LABEL = "jsctl.label"
"""The metadata key that marks what a file with `label:` created."""


def without_label(config: Json) -> Json:
    """Return the configuration for a copy, without the label: no file declares it, and --prune leaves it
    alone."""
    return without_metadata(config, lambda key: key == LABEL)


@dataclass(frozen=True, slots=True)
class Place:
    """Where streams are: a context (empty: the one of the command line), a JetStream domain in it (None: the
    context's), and an account of an operator that `jsctl auth` has (empty: that of the context's login)."""

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
    """A declared stream. config, position: as of a Consumer. label: empty where the file has none.

    kind: of the bucket that it was declared as, in whose words the configuration then is.
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
    """All that the files declare. labels: by place, those whose leftovers --prune may remove."""

    streams: Sequence[Stream]
    labels: Mapping[Place, frozenset[str]] = field(default_factory=dict)

    @property
    def places(self) -> list[Place]:
        """Every place, each once."""
        return list(dict.fromkeys([*(stream.place for stream in self.streams), *self.labels]))
