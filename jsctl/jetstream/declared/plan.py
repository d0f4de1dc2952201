"""What has to change on the servers so that they hold what is declared."""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from jsctl.errors import ApiError, BadInput
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.differences import Difference, differences
from jsctl.jetstream.consumer import config as consumer_config
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.declared.model import LABEL, Consumer, Declared, Place, Stream
from jsctl.jetstream.declared.overlay import over_consumer, over_stream, without_none
from jsctl.jetstream.declared.refusals import consumer_refusals, stream_refusals
from jsctl.jetstream.stream import config as configs
from jsctl.jetstream.stream import requests as streams

T = TypeVar("T")
Action = Literal["create", "change", "remove"]


class Target(NamedTuple):
    """Where a place is. domain: the server's own where none was said."""

    api: Api
    context: str
    domain: str

    @property
    def key(self) -> tuple[int, str]:
        """The same for two places that are one."""
        return id(self.api.connection), self.domain if self.api.prefix.startswith("$JS.") else self.api.prefix


class Step(NamedTuple):
    """One request. consumer: empty for the stream itself. at: file:line, empty for what no file names.

    before: the live configuration, after: the one to send; None for nothing. refused: by key, why the server
    will not change it. messages, bytes: what goes with a removal.
    """

    action: Action
    target: Target
    stream: str
    consumer: str
    at: str
    before: Json | None
    after: Json | None
    changes: Sequence[Difference] = ()
    refused: Mapping[str, str] = {}
    messages: int = 0
    bytes: int = 0


class Plan(NamedTuple):
    """streams, consumers: how many are as declared."""

    steps: Sequence[Step]
    streams: int
    consumers: int

    @property
    def refused(self) -> list[Step]:
        return [step for step in self.steps if step.refused]

    @property
    def warnings(self) -> list[str]:
        """What a server takes but does not do as it reads, and where it stands."""
        return [
            f"{step.at}: {warning}"
            for step in self.steps
            if step.after is not None and not step.consumer
            for warning in configs.warnings(step.after, step.target.domain)
        ]

    def count(self, action: Action) -> int:
        return sum(step.action == action for step in self.steps)


async def make(declared: Declared, targets: Mapping[Place, Target], *, prune: bool = False) -> Plan:
    """Compare what is declared with what is there. Raises BadInput, and what requests raise."""
    _refuse_twins(declared.streams, targets)
    gate = asyncio.Semaphore(32)

    async def compared(stream: Stream) -> list[Step | None]:
        async with gate:
            return await _stream(stream, targets[stream.place], declared, prune)

    found = await all_of(compared(stream) for stream in declared.streams)
    steps = [step for some in found for step in some if step]
    # The first of each is the stream itself.
    same = sum(some[0] is None for some in found), sum(step is None for some in found for step in some[1:])
    plan = Plan(steps, *same)
    if prune:
        left = await all_of(
            _leftovers(targets[place], labels, declared, targets) for place, labels in declared.labels.items()
        )
        unique = {(step.target.key, step.stream): step for some in left for step in some}
        plan = plan._replace(steps=[*plan.steps, *unique.values()])
    return plan


async def all_of(work: Iterable[Awaitable[T]]) -> list[T]:
    """All results; the first failure ends the others."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_coroutine(one)) for one in work]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


async def _coroutine(one: Awaitable[T]) -> T:
    return await one


async def _stream(stream: Stream, target: Target, declared: Declared, prune: bool) -> list[Step | None]:
    """The steps for a stream and its consumers; None for each that is as declared."""
    live = await _config(streams.info(target.api, stream.name), streams.NOT_FOUND)
    steps: list[Step | None] = []
    if live is None:
        after = configs.with_defaults(without_none(stream.config))
        said = differences({}, without_none(stream.config))
        step = Step("create", target, stream.name, "", stream.at, None, after, said)
        return [step, *(_new_consumer(stream, one, target) for one in stream.consumers)]
    before = configs.without_reserved(live)
    after = over_stream(before, stream.config)
    configs.refuse(configs.problems(after), stream.at)
    changes = differences(before, after)
    refused = stream_refusals(before, after, changes)
    steps.append(
        Step("change", target, stream.name, "", stream.at, before, after, changes, refused)
        if changes
        else None
    )
    steps.extend(await all_of(_consumer(stream, one, target) for one in stream.consumers))
    labels = declared.labels.get(stream.place, frozenset())
    if prune and labels:
        wanted = {one.name for one in stream.consumers}
        for info in (await consumers.listing(target.api, stream.name)).infos:
            if info["name"] not in wanted and _label(info) in labels:
                steps.append(Step("remove", target, stream.name, info["name"], "", info["config"], None))
    return steps


async def _consumer(stream: Stream, wanted: Consumer, target: Target) -> Step | None:
    live = await _config(consumers.info(target.api, stream.name, wanted.name), consumers.NOT_FOUND)
    if live is None:
        return _new_consumer(stream, wanted, target)
    before = consumer_config.own(live)
    after = over_consumer(before, wanted.config)
    configs.refuse(consumer_config.problems(after), wanted.at)
    changes = differences(before, after)
    if not changes:
        return None
    refused = consumer_refusals(before, after, changes)
    return Step("change", target, stream.name, wanted.name, wanted.at, before, after, changes, refused)


def _new_consumer(stream: Stream, wanted: Consumer, target: Target) -> Step:
    config = without_none(wanted.config)
    after = consumer_config.with_defaults(config)
    said = differences({}, config)
    return Step("create", target, stream.name, wanted.name, wanted.at, None, after, said)


async def _leftovers(
    target: Target, labels: frozenset[str], declared: Declared, targets: Mapping[Place, Target]
) -> list[Step]:
    """Removals of streams that carry a label and that no file declares any more."""
    wanted = {(targets[stream.place].key, stream.name) for stream in declared.streams}
    steps = []
    for info in (await streams.collect(target.api, lambda info: info)).items.values():
        name = str(info["config"]["name"])
        if (target.key, name) not in wanted and _label(info) in labels:
            size = int(info["state"]["messages"]), int(info["state"]["bytes"])
            steps.append(Step("remove", target, name, "", "", info["config"], None, (), {}, *size))
    return steps


async def _config(asked: Awaitable[Json], not_found: int) -> Json | None:
    try:
        found: Json = (await asked)["config"]
    except ApiError as error:
        if error.err_code == not_found:
            return None
        raise
    return found


def _label(info: Mapping[str, Any]) -> str:
    return str((info["config"].get("metadata") or {}).get(LABEL, ""))


def _refuse_twins(declared: Sequence[Stream], targets: Mapping[Place, Target]) -> None:
    """Two places may turn out to be one."""
    seen: dict[tuple[tuple[int, str], str], Stream] = {}
    for stream in declared:
        other = seen.setdefault((targets[stream.place].key, stream.name), stream)
        if other is not stream:
            raise BadInput(f"{stream.at}: stream {stream.name} is declared twice", f"first in {other.at}")
