"""Declared streams with their consumers, and the places that they belong to."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from jsctl.errors import NotFound
from jsctl.jetstream.config.kind import Json
from jsctl.jetstream.config.schema import without_metadata
from jsctl.jetstream.kv.config import BUCKET, BucketSchema
from jsctl.jetstream.object.config import OBJECT_BUCKET
from jsctl.jetstream.stream.protection import list_names_of

LABEL = "jsctl.label"
"""The metadata key that marks what a file with `label:` created."""

BUCKET_KINDS: tuple[BucketSchema, ...] = (BUCKET, OBJECT_BUCKET)
"""The kinds of buckets that a file can declare, each held by a stream."""


def find_bucket_kind(stream: str) -> BucketSchema | None:
    """Return the kind of bucket that a stream holds, by its name; None if it holds none."""
    return next((kind for kind in BUCKET_KINDS if kind.is_bucket(stream)), None)


def without_label(config: Json) -> Json:
    """Return the configuration for a copy, without the label: no file declares the copy, and --prune must not
    remove it."""
    return without_metadata(config, lambda key: key == LABEL)


def with_label(config: Json, label: str) -> Json:
    """Return the configuration with the label of a file, if it has one."""
    if not label:
        return config
    return {**config, "metadata": {**(config.get("metadata") or {}), LABEL: label}}


def get_label(config: Json) -> str:
    """Return the label of what owns a stream or consumer; empty if no file with a label does."""
    return str((config.get("metadata") or {}).get(LABEL, ""))


@dataclass(frozen=True, slots=True)
class Place:
    """Where streams are: a context (empty: the one of the command line), a JetStream domain in it (None: the
    context's), and an account of an operator in `jsctl auth` (empty: the account of the context's login)."""

    context: str = ""
    domain: str | None = None
    account: str = ""

    def to_json(self) -> Json:
        """Return it as JSON."""
        return {"context": self.context, "domain": self.domain, "account": self.account}


@dataclass(frozen=True, slots=True)
class Consumer:
    """A declared consumer.

    config: the declared keys in the server's form; None removes a key. position: file:line. label: empty if
    the file has none.
    """

    name: str
    config: Json
    position: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Stream:
    """A declared stream. config, position, label: as in Consumer.

    kind: set if it was declared as a bucket, whose own keys the configuration then has. allows_data_loss:
    whether changes of it may delete messages. renamed_from: the name that it has so far. values: of a
    key-value bucket, by key; hidden: those of them that no output shows.
    """

    name: str
    config: Json
    position: str
    place: Place
    label: str = ""
    consumers: Sequence[Consumer] = ()
    kind: BucketSchema | None = None
    allows_data_loss: bool = False
    renamed_from: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()

    def is_called(self, names: Set[str]) -> bool:
        """Return whether the stream, or the bucket that it holds, has one of the names."""
        return bool(list_names_of(self.name) & names)

    @property
    def is_bare(self) -> bool:
        """Whether the file says nothing of the stream itself: it is named for its consumers."""
        return self.config.keys() <= {"name"} and not self.renamed_from


@dataclass(frozen=True, slots=True)
class Declared:
    """The declarations of all files. labels: by place, the labels whose streams and consumers --prune may
    remove. names: of the streams and buckets that are compared; empty for all. warnings: about numbers that
    mean something else than they look like. contexts: those that files name at their top."""

    streams: Sequence[Stream]
    labels: Mapping[Place, frozenset[str]] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    warnings: Sequence[str] = ()
    contexts: frozenset[str] = frozenset()

    def select(self, names: Sequence[str], *, prune: bool) -> "Declared":
        """Return the declarations of the streams and buckets with these names; all without names.

        prune: a name may be one that is no longer declared. Raises NotFound.
        """
        if not names:
            return self
        streams = [stream for stream in self.streams if stream.is_called(frozenset(names))]
        known = {name for name in names if any(stream.is_called({name}) for stream in streams)}
        if not prune and (unknown := sorted({*names} - known)):
            raise NotFound(
                f"no file declares a stream or bucket {unknown[0]!r}", "--target takes their names"
            )
        return replace(self, streams=streams, names=frozenset(names))

    def is_selected(self, stream: str) -> bool:
        """Return whether a stream that exists is compared."""
        return not self.names or bool(list_names_of(stream) & self.names)

    @property
    def places(self) -> list[Place]:
        """All places, each once."""
        return list(dict.fromkeys([*(stream.place for stream in self.streams), *self.labels]))
