"""The steps of a plan: each is one request that creates, changes or removes a stream or a consumer."""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from operator import itemgetter
from typing import Any, Literal, NamedTuple, TypeVar

from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.differences import Difference, find_differences
from jsctl.jetstream.consumer.config import CONSUMER
from jsctl.jetstream.declared.model import Consumer, Stream
from jsctl.jetstream.kv.config import BucketSchema
from jsctl.jetstream.message.data_loss import NOTHING, DataLoss, add_losses
from jsctl.jetstream.message.takers import Taken
from jsctl.jetstream.stream.config import STREAM

T = TypeVar("T")

Action = Literal["create", "change", "remove"]
Key = tuple[int, str, str, str]
"""A step of a plan: the number of its JetStream, the names of stream and consumer (empty for the stream
itself), and what else it is about."""


_NEEDED_BY_CONSUMERS = {"consumer_limits", "num_replicas"}
"""Keys of a stream without whose change new consumers may be refused."""


class Target(NamedTuple):
    """A place that was resolved to an API. domain: the server's own if the place names none. account: the one
    that the place names. is_missing: whether servers do not have that account yet; it is empty then. key: the
    number of the JetStream that it reaches, the same for each place that reaches it (see `identity`)."""

    api: Api
    context: str
    domain: str
    account: str = ""
    is_missing: bool = False
    key: int = 0


class Step(NamedTuple):
    """One request. consumer: empty for the stream itself. position: file:line, empty if no file declares it.
    kind: the kind of bucket that the stream holds; the changes then have the bucket's own keys.

    before: the live configuration, None if there is none; after: the one to send, None for a removal.
    refused: by key, why the change cannot be made. loss: the messages of its stream that it deletes at most,
    together: what all steps about this stream delete; taken: what it takes out of work queues that it begins
    to copy; allows_loss: whether the file says that it may. item: what the file declares; None for a removal.
    label: the label of what is removed. notes: what else a removal takes along. part: "release" if a stream
    only releases subjects, one of CONTENTS if it is about what the stream holds. other_name: of a rename, the
    old name where the copy is made, the new one where the old one goes. retention: of the stream of a
    consumer.
    """

    action: Action
    target: Target
    stream: str
    consumer: str
    position: str
    before: Json | None
    after: Json | None
    changes: Sequence[Difference] = ()
    refused: Mapping[str, str] = {}
    kind: BucketSchema | None = None
    loss: DataLoss = NOTHING
    together: DataLoss = NOTHING
    taken: Sequence[Taken] = ()
    allows_loss: bool = False
    item: Stream | Consumer | None = None
    label: str = ""
    notes: Sequence[str] = ()
    part: str = ""
    other_name: str = ""
    retention: str = ""

    @property
    def changed_keys(self) -> set[str]:
        """Keys of the server's configuration that differ, also where `changes` have those of a bucket."""
        schema = CONSUMER if self.consumer else STREAM
        differences = find_differences(self.before or {}, self.after or {}, schema)
        return {difference.key.partition(".")[0] for difference in differences}

    @property
    def is_release(self) -> bool:
        """Whether a stream only releases subjects for others."""
        return self.part == "release"

    @property
    def is_content(self) -> bool:
        """Whether it is about what a stream holds, such as the values of a bucket."""
        return self.part not in ("", "release")

    @property
    def is_sealing(self) -> bool:
        """Whether it seals a stream that exists, which cannot be undone."""
        is_stream = self.action == "change" and not self.consumer
        return is_stream and bool((self.after or {}).get("sealed")) > bool((self.before or {}).get("sealed"))

    @property
    def takes(self) -> DataLoss:
        """What it takes out of work queues."""
        return add_losses(taken.loss for taken in self.taken)

    @property
    def begins_interest(self) -> bool:
        """Whether a stream gets interest retention."""
        has_changed = self.action == "change" and "retention" in self.changed_keys
        return has_changed and (self.after or {}).get("retention") == "interest"

    @property
    def follows_new_consumers(self) -> bool:
        """Whether new consumers of a stream are created before it changes: those keep what it would delete
        for want of interest."""
        return self.begins_interest and not self.changed_keys & _NEEDED_BY_CONSUMERS

    @property
    def is_placed(self) -> bool:
        """Whether servers must be found for replicas of a stream."""
        if self.consumer or self.part or self.after is None or self.target.is_missing:
            return False
        if self.action == "create":
            return int(self.after.get("num_replicas") or 1) > 1 or bool(self.after.get("placement"))
        return not self.changed_keys.isdisjoint(("num_replicas", "placement"))

    @property
    def key(self) -> Key:
        """A value that no other step of the plan has."""
        return self.target.key, self.stream, self.consumer, self.part

    @property
    def main_key(self) -> Key:
        """The key of the step that the others about the same stream or consumer are parts of."""
        return self.target.key, self.stream, self.consumer, ""

    @property
    def summary(self) -> tuple[Any, ...]:
        """What must be the same when it is done as when it was planned."""
        changes = sorted(((each.key, each.before, each.after) for each in self.changes), key=itemgetter(0))
        # The position of consumers that go moves on while they are in use; which ones go is the point.
        others = [note.partition(":")[0] for note in self.notes] if not self.consumer else []
        return self.action, changes, sorted(self.refused), self.label, others

    @property
    def identity(self) -> tuple[Any, ...]:
        """What must be the same when a plan is made again: what the step is about, and what it does."""
        place = self.target.context, self.target.account
        return *place, self.stream, self.consumer, self.part, self.summary

    def format_name(self) -> str:
        """Format what it is about: `stream ORDERS`, `bucket CONFIG` or `consumer ORDERS > NEW`."""
        if self.consumer:
            return f"consumer {self.stream} > {self.consumer}"
        name = f"stream {self.stream}"
        if self.kind is not None:
            name = f"{self.kind.noun} {self.kind.stream_to_bucket(self.stream)}"
        return f"{self.part} of {name}" if self.is_content else name


def group_by_place(steps: Iterable[Step]) -> dict[int, list[Step]]:
    """Return the steps by the key of their target."""
    groups: dict[int, list[Step]] = {}
    for step in steps:
        groups.setdefault(step.target.key, []).append(step)
    return groups


def get_subjects(config: Json | None) -> list[str]:
    """Return the subjects of a stream's configuration; none for None."""
    return list((config or {}).get("subjects") or [])


def get_storage(step: Step) -> str:
    """Return the kind of storage of a step's stream, file or memory."""
    return (step.after or {}).get("storage") or "file"


def find_cycle(graph: Mapping[T, Iterable[T]]) -> list[T]:
    """Return the nodes of a cycle, of which the first comes again at the end; empty if there is none. graph:
    the nodes that must come before each node."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def group_losses(steps: Iterable[Step]) -> list[tuple[Sequence[Step], DataLoss]]:
    """Return the steps that delete messages, by stream, with what they delete together."""
    by_stream: dict[Key, list[Step]] = {}
    for step in steps:
        if step.loss:
            by_stream.setdefault((step.target.key, step.stream, "", ""), []).append(step)
    return [(group, group[0].together if group[1:] else group[0].loss) for group in by_stream.values()]


def add_step_losses(steps: Iterable[Step]) -> DataLoss:
    """Return what steps delete together."""
    return add_losses(loss for _, loss in group_losses(steps))
