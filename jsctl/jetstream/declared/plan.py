"""The plan of changes after which servers have what is declared."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar

from jsctl.errors import ApiError, BadInput
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.differences import Difference, find_differences
from jsctl.jetstream.config.schema import Schema
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import CONSUMER
from jsctl.jetstream.declared.buckets import BucketKind, find_bucket_kind
from jsctl.jetstream.declared.merge import merge_bucket, merge_consumer, merge_stream, without_none
from jsctl.jetstream.declared.model import LABEL, Consumer, Declared, Place, Stream
from jsctl.jetstream.declared.refusals import (
    find_bucket_refusals,
    find_consumer_refusals,
    find_stream_refusals,
)
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.config import STREAM, find_warnings
from jsctl.nats.awaiting import gather_or_cancel
from jsctl.nats.error_codes import ErrorCode

T = TypeVar("T")
Action = Literal["create", "change", "remove"]


class Target(NamedTuple):
    """A place that was resolved to an API. domain: the server's own if the place names none. account: the one
    that the place names. is_missing: whether servers do not have that account yet; it is empty then."""

    api: Api
    context: str
    domain: str
    account: str = ""
    is_missing: bool = False

    @property
    def key(self) -> tuple[int, str]:
        """A value that is equal for two places that are the same."""
        return id(self.api.connection), self.domain if self.api.prefix.startswith("$JS.") else self.api.prefix


class Step(NamedTuple):
    """One request. consumer: empty for the stream itself. position: file:line, empty if no file declares it.
    kind: the kind of bucket that the stream holds; the changes then have the bucket's own keys.

    before: the live configuration, None if there is none; after: the one to send, None for a removal.
    refused: by key, why the server will not change it. messages, bytes: lost by a removal.
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
    messages: int = 0
    bytes: int = 0
    kind: BucketKind | None = None


class Plan(NamedTuple):
    """The steps to do. streams, consumers, buckets: how many already are as declared."""

    steps: Sequence[Step]
    streams: int
    consumers: int
    buckets: int = 0

    @property
    def unchanged(self) -> int:
        """The number of streams, consumers and buckets that already are as declared."""
        return self.streams + self.consumers + self.buckets

    @property
    def refused(self) -> list[Step]:
        """The steps that the server would refuse."""
        return [step for step in self.steps if step.refused]

    @property
    def warnings(self) -> list[str]:
        """Warnings about configurations that servers accept but treat unexpectedly, each with its
        position."""
        return [
            f"{step.position}: {warning}"
            for step in self.steps
            if step.after is not None and not step.consumer
            for warning in find_warnings(step.after, step.target.domain)
        ]

    def count(self, action: Action) -> int:
        """Count the steps with an action."""
        return sum(step.action == action for step in self.steps)


class _Noun(NamedTuple):
    """How declared keys of a noun become a request."""

    schema: Schema
    merge: Callable[[Json, Json], Json]
    find_refusals: Callable[[Json, Json, Sequence[Difference]], dict[str, str]]


_STREAM = _Noun(STREAM, merge_stream, find_stream_refusals)
_CONSUMER = _Noun(CONSUMER, merge_consumer, find_consumer_refusals)


async def make_plan(declared: Declared, targets: Mapping[Place, Target], *, prune: bool = False) -> Plan:
    """Compare what is declared with what exists. prune: plan removals, too. Raises BadInput, and what
    requests raise."""
    _refuse_same_streams(declared.streams, targets)
    gate = asyncio.Semaphore(32)

    async def compare(stream: Stream) -> list[Step | None]:
        async with gate:
            return await _plan_stream(stream, targets[stream.place], declared, prune)

    planned = await gather_or_cancel(compare(stream) for stream in declared.streams)
    steps = [step for group in planned for step in group if step]
    # The first of each group is the stream itself.
    same = [stream for stream, group in zip(declared.streams, planned, strict=True) if group[0] is None]
    same_buckets = sum(bool(stream.kind) for stream in same)
    same_consumers = sum(step is None for group in planned for step in group[1:])
    if prune:
        removals = await gather_or_cancel(
            _plan_removals(targets[place], labels, declared, targets)
            for place, labels in declared.labels.items()
            if not targets[place].is_missing
        )
        unique = {(step.target.key, step.stream): step for group in removals for step in group}
        steps += unique.values()
    return Plan(steps, len(same) - same_buckets, same_consumers, same_buckets)


async def _plan_stream(stream: Stream, target: Target, declared: Declared, prune: bool) -> list[Step | None]:
    """Return the steps for a stream and its consumers, with None for each that already is as declared."""
    live = None
    if not target.is_missing:
        live = await _fetch_config(streams.fetch_info(target.api, stream.name), "STREAM_NOT_FOUND")
    if stream.kind:
        step = _plan_bucket(stream.kind, stream, target, live)
    else:
        step = _plan_step(_STREAM, stream, target, stream.name, "", live)
    if live is None:
        return [
            step,
            *(
                _plan_step(_CONSUMER, consumer, target, stream.name, consumer.name, None)
                for consumer in stream.consumers
            ),
        ]
    consumer_steps = await gather_or_cancel(
        _plan_consumer(stream, consumer, target) for consumer in stream.consumers
    )
    steps = [step, *consumer_steps]
    labels = declared.labels.get(stream.place, frozenset())
    if prune and labels:
        names = {consumer.name for consumer in stream.consumers}
        for info in (await consumers.list_consumers(target.api, stream.name)).infos:
            if info["name"] not in names and _get_label(info) in labels:
                steps.append(Step("remove", target, stream.name, info["name"], "", info["config"], None))
    return steps


async def _plan_consumer(stream: Stream, consumer: Consumer, target: Target) -> Step | None:
    live = await _fetch_config(
        consumers.fetch_info(target.api, stream.name, consumer.name), "CONSUMER_NOT_FOUND"
    )
    return _plan_step(_CONSUMER, consumer, target, stream.name, consumer.name, live)


def _plan_step(
    noun: _Noun, item: Stream | Consumer, target: Target, stream: str, consumer: str, live: Json | None
) -> Step | None:
    """Return the step for a stream or a consumer; None when it already is as declared."""
    schema = noun.schema
    if live is None:
        config = without_none(item.config)
        changes = find_differences({}, config, schema)
        after = schema.with_defaults(config)
        return Step("create", target, stream, consumer, item.position, None, after, changes)
    before = schema.without_server_keys(live)
    after = noun.merge(before, item.config)
    schema.validate(after, item.position)
    changes = find_differences(before, after, schema)
    if not changes:
        return None
    refused = noun.find_refusals(before, after, changes)
    return Step("change", target, stream, consumer, item.position, before, after, changes, refused)


def _plan_bucket(kind: BucketKind, bucket: Stream, target: Target, live: Json | None) -> Step | None:
    """Return the step for a bucket, compared in the bucket's own keys and sent as the stream that holds
    it."""
    before = None if live is None else STREAM.without_server_keys(live)
    live_bucket = None if live is None else kind.from_stream(live)
    noun = _Noun(kind.schema, partial(merge_bucket, kind), partial(find_bucket_refusals, kind))
    step = _plan_step(noun, bucket, target, bucket.name, "", live_bucket)
    if step is None or step.after is None:
        return step
    return step._replace(before=before, after=kind.to_stream(step.after, before), kind=kind)


async def _plan_removals(
    target: Target, labels: frozenset[str], declared: Declared, targets: Mapping[Place, Target]
) -> list[Step]:
    """Return removals of the streams that carry one of the labels and are no longer declared."""
    declared_keys = {(targets[stream.place].key, stream.name) for stream in declared.streams}
    steps = []
    for info in (await streams.collect(target.api, lambda info: info)).items.values():
        name = str(info["config"]["name"])
        if (target.key, name) not in declared_keys and _get_label(info) in labels:
            size = int(info["state"]["messages"]), int(info["state"]["bytes"])
            step = Step("remove", target, name, "", "", info["config"], None, (), {}, *size)
            steps.append(step._replace(kind=find_bucket_kind(name)))
    return steps


async def _fetch_config(request: Awaitable[Json], not_found: str) -> Json | None:
    """Return the configuration in an info; None when the stream or consumer does not exist."""
    try:
        config: Json = (await request)["config"]
    except ApiError as error:
        if error.err_code == getattr(ErrorCode, not_found):
            return None
        raise
    return config


def _get_label(info: Mapping[str, Any]) -> str:
    return str((info["config"].get("metadata") or {}).get(LABEL, ""))


def _refuse_same_streams(declared: Sequence[Stream], targets: Mapping[Place, Target]) -> None:
    """Raise BadInput for a stream that is declared twice, in places that turn out to be the same."""
    by_key: dict[tuple[tuple[int, str], str], Stream] = {}
    for stream in declared:
        first = by_key.setdefault((targets[stream.place].key, stream.name), stream)
        if first is not stream:
            raise BadInput(
                f"{stream.position}: stream {stream.name} is declared twice", f"first in {first.position}"
            )
