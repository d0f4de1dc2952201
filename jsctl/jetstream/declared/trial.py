"""A plan tried on a server that has nothing else: what it refuses, servers refuse of the plan.

New streams are tried with those that they copy from, and of groups with the same shape (`compute_shape`) just
one. What is about something that exists is tried together, in the order of the plan, on copies of the streams
and consumers that exist, without their messages. The server is alone, so that everything has one replica
there and no placement, and what is copied from other domains and accounts is not copied.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

from jsctl.base.loops import gather
from jsctl.errors import ApiError, BadInput, JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.api_levels import find_server_version
from jsctl.jetstream.config.differences import find_differences
from jsctl.jetstream.config.kind import is_copying
from jsctl.jetstream.config.origins import list_origins
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import CONSUMER
from jsctl.jetstream.declared.checks import get_tier
from jsctl.jetstream.declared.execute import find_dependencies, send_step
from jsctl.jetstream.declared.handover import list_handovers
from jsctl.jetstream.declared.step import Key, Step, Target
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.config import STREAM

_SUBJECTS = frozenset(
    (
        "subjects",
        "filter_subject",
        "filter_subjects",
        "deliver_subject",
        "src",
        "dest",
        "name",
        "durable_name",
    )
)
_WORD = re.compile(r"[A-Za-z0-9-][\w-]{0,63}", re.ASCII)


def compute_shape(configs: Sequence[Json]) -> str:
    """Return a text that is equal for streams that differ only in their names and in the words of their
    subjects, so that servers accept all of them or none. configs: of a stream, and of its consumers.

    A server compares the words of subjects with each other and with names of its own, which begin with `$` or
    `_`; what else they are does not matter to it (server: stream.go checkStreamCfg, consumer.go
    checkConsumerCfg). Of descriptions and metadata it limits the size.
    """
    words: dict[str, str] = {}

    def name_word(token: str) -> str:
        return words.setdefault(token, f"w{len(words)}") if _WORD.fullmatch(token) else token

    def reduce(key: str, value: Any) -> Any:
        if isinstance(value, dict):
            if key == "metadata":
                return {name: len(str(text)) for name, text in value.items()}
            return {name: reduce(name, item) for name, item in value.items()}
        if isinstance(value, list):
            return [reduce(key, item) for item in value]
        if not isinstance(value, str):
            return value
        if key in _SUBJECTS:
            return ".".join(map(name_word, value.split(".")))
        return len(value) if key == "description" else value

    return json.dumps([reduce("", config) for config in configs], sort_keys=True)


_MAX_PARALLEL = 16

SERVER_KEY = "server"
"""The key of a refusal that is about no single key of a configuration."""

_NOT_TRIED = frozenset(("num_replicas", "placement"))

_Stream = tuple[int, str]
"""A stream: the number of its JetStream, and its name."""


class Trial(NamedTuple):
    """What came of a trial. refused: by step, why the server refuses it, by key. kept: steps after which the
    server has the same as before. untried: by step, why it was not tried."""

    refused: Mapping[Key, Mapping[str, str]]
    kept: frozenset[Key]
    untried: Mapping[Key, str]


async def try_steps(
    steps: Sequence[Step], accounts: Mapping[int, Json], apis: Mapping[tuple[int, str], Api], level: int
) -> Trial:
    """Try the steps of a plan that are not refused already. accounts: limits of each JetStream. apis: of the
    server to try it on, by JetStream and tier (empty if the account has none); level: its API level. Raises
    what requests raise."""
    refused = {(step.target.key, step.stream) for step in steps if step.refused and not step.consumer}
    tried = [step for step in steps if not step.refused and (step.target.key, step.stream) not in refused]
    groups, others = _split(tried)
    rehearsal = _Rehearsal(accounts, apis, level)
    await rehearsal.try_each(groups)
    await rehearsal.try_together(others)
    return Trial(rehearsal.refused, frozenset(rehearsal.kept), rehearsal.untried)


def _split(steps: Sequence[Step]) -> tuple[Sequence[Sequence[Step]], Sequence[Step]]:
    """Return groups of steps about new streams that copy from each other at most, and all other steps."""
    by_stream: dict[_Stream, list[Step]] = {}
    for step in steps:
        by_stream.setdefault((step.target.key, step.stream), []).append(step)
    related: dict[_Stream, set[_Stream]] = {stream: set() for stream in by_stream}
    others = {key[:2] for pair in list_handovers(steps) for key in pair}
    for stream, own in by_stream.items():
        created = any(step.action == "create" and not (step.consumer or step.other_name) for step in own)
        if not created or any(step.part for step in own):
            others.add(stream)
        configs = (step.after or {} for step in own if not step.consumer)
        for origin in (origin for config in configs for origin in _list_local_origins(config)):
            if (other := (stream[0], origin)) in related:
                related[stream].add(other)
                related[other].add(stream)
            else:
                others.add(stream)
    position = {stream: number for number, stream in enumerate(by_stream)}
    groups: list[list[Step]] = []
    rest: set[_Stream] = set()
    for component in _find_components(related):
        if component & others:
            rest |= component
        else:
            ordered = sorted(component, key=position.__getitem__)
            groups.append([step for stream in ordered for step in by_stream[stream]])
    return groups, [step for step in steps if (step.target.key, step.stream) in rest]


def _list_local_origins(config: Json) -> Iterator[str]:
    """Yield the streams of its own JetStream that a stream copies from."""
    for origin in list_origins(config):
        if not (origin.get("external") or {}).get("api"):
            yield str(origin["name"])


def _find_components(graph: Mapping[_Stream, set[_Stream]]) -> Iterator[set[_Stream]]:
    """Yield the groups of nodes that are connected."""
    seen: set[_Stream] = set()
    for start in graph:
        component, waiting = set[_Stream](), [start] if start not in seen else []
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                component.add(node)
                waiting += graph[node]
        if component:
            yield component


class _Rehearsal:
    """A trial on its way."""

    def __init__(self, accounts: Mapping[int, Json], apis: Mapping[tuple[int, str], Api], level: int) -> None:
        self._accounts = accounts
        self._apis = apis
        self._level = level
        self._configs: dict[_Stream, Json] = {}
        self._tiers: dict[_Stream, str] = {}
        self._missing: dict[_Stream, str] = {}  #: streams that are not there, and why
        self._live: dict[_Stream, Json] = {}
        self._consumers: dict[_Stream, Sequence[Json]] = {}
        self._slots = asyncio.Semaphore(_MAX_PARALLEL)
        self.refused: dict[Key, Mapping[str, str]] = {}
        self.kept: set[Key] = set()
        self.untried: dict[Key, str] = {}

    async def try_each(self, groups: Sequence[Sequence[Step]]) -> None:
        """Try groups of new streams with their consumers, each by itself, and of each shape one."""
        shapes: dict[tuple[int, str], list[Sequence[Step]]] = {}
        for group in groups:
            shape = compute_shape([{"of": {"name": step.stream}, **(step.after or {})} for step in group])
            shapes.setdefault((group[0].target.key, shape), []).append(group)

        async def try_shape(alike: Sequence[Sequence[Step]]) -> None:
            first = alike[0]
            async with self._slots:
                by_key = {step.key: step for step in first}
                for key in TopologicalSorter(find_dependencies(first)).static_order():
                    await self._try(by_key[key])
                for stream in {(step.target.key, step.stream) for step in first} - self._missing.keys():
                    await streams.delete(self._get_api(stream), stream[1])
            for group in alike[1:]:
                for step, same in zip(first, group, strict=True):
                    self._copy_outcome(step.key, same.key)

        await gather(map(try_shape, shapes.values()))

    def _copy_outcome(self, tried: Key, same: Key) -> None:
        if tried in self.refused:
            self.refused[same] = self.refused[tried]
        if tried in self.untried:
            self.untried[same] = self.untried[tried]

    async def try_together(self, steps: Sequence[Step]) -> None:
        """Copy what the steps are about from servers, and try them in their order."""
        await self._copy_live(steps)
        by_key = {step.key: step for step in steps}

        async def attempt(key: Key) -> None:
            async with self._slots:
                if key in by_key:
                    await self._try(by_key[key])

        sorter = TopologicalSorter(find_dependencies(steps))
        sorter.prepare()
        while sorter.is_active():
            ready = sorter.get_ready()
            await gather(map(attempt, ready))
            sorter.done(*ready)

    async def _copy_live(self, steps: Sequence[Step]) -> None:
        targets: dict[_Stream, Target] = {}
        created = {
            (step.target.key, step.stream)
            for step in steps
            if step.action == "create" and not step.consumer and not step.part
        }
        for step in steps:
            if (stream := (step.target.key, step.stream)) not in created and not step.target.is_missing:
                targets.setdefault(stream, step.target)
        await self._fetch(targets, with_consumers=True)
        configs = [(step.target, step.after or {}) for step in steps if not step.consumer]
        configs += [(targets[stream], info["config"]) for stream, info in self._live.items()]
        origins = {
            (target.key, origin): target
            for target, config in configs
            for origin in _list_local_origins(config)
            if not target.is_missing
        }
        known = created | targets.keys()
        await self._fetch({stream: target for stream, target in origins.items() if stream not in known})
        infos = sorted(self._live.items(), key=lambda item: bool(list_origins(item[1]["config"])))
        for stream, info in infos:
            await self._create_copy(stream, STREAM.without_server_keys(info["config"]))

    async def _fetch(self, targets: Mapping[_Stream, Target], *, with_consumers: bool = False) -> None:
        """Fetch streams, and their consumers, from the servers of the plan."""

        async def fetch(stream: _Stream, api: Api) -> None:
            async with self._slots:
                try:
                    info = await streams.fetch_info_or_none(api, stream[1])
                    if info is None:
                        self._missing[stream] = f"stream {stream[1]} does not exist"
                        return
                    if with_consumers and info["state"].get("consumer_count"):
                        listed = await consumers.list_consumers(api, stream[1])
                        self._consumers[stream] = [each["config"] for each in listed.infos]
                    self._live[stream] = info
                except JsctlError as error:
                    self._missing[stream] = error.message

        await gather(fetch(stream, target.api) for stream, target in targets.items())

    async def _create_copy(self, stream: _Stream, config: Json) -> None:
        """Create a stream that exists, with its consumers, on the server of the trial."""
        try:
            await self._create(stream, "", config)
            await self._copy_consumers(stream, stream)
        except JsctlError as error:
            self._missing[stream] = f"a copy of what exists cannot be made here: {error.message}"

    async def _copy_consumers(self, stream: _Stream, origin: _Stream) -> None:
        for consumer in self._consumers.get(origin, ()):
            if not is_copying(consumer):
                await self._create(stream, str(consumer["name"]), CONSUMER.without_server_keys(consumer))

    async def _create(self, stream: _Stream, consumer: str, config: Json) -> None:
        target = Target(next(iter(self._apis.values())), "", "", key=stream[0])
        await send_step(self._adapt(Step("create", target, stream[1], consumer, "", None, config)))

    async def _try(self, step: Step) -> None:
        """Send one step, and note what came of it."""
        stream = step.target.key, step.stream
        if stream in self._missing:
            if reason := self._missing[stream]:
                self.untried[step.key] = reason
            return
        schema = CONSUMER if step.consumer else STREAM
        if newer := [level for level in schema.find_needed_levels(step.after or {}) if level > self._level]:
            reason = f"it needs nats-server {find_server_version(max(newer))}, which is not here"
            self.untried[step.key] = reason
            if step.action == "create" and not step.consumer:
                self._missing[stream] = reason
            return
        if step.consumer and (reason := _check_replicas(step.after or {}, self._configs[stream])):
            self.refused[step.key] = {"num_replicas": reason}
            return
        adapted = self._adapt(step)
        try:
            info = await send_step(adapted)
        except (ApiError, BadInput) as error:
            self.refused[step.key] = await self._explain(step, adapted, error)
            if step.action == "create" and not step.consumer:
                self._missing[stream] = ""  # the reason is the stream's
            return
        except JsctlError:
            if step.is_content:  # it may be stored in another domain
                return
            raise
        if step.other_name:
            await self._copy_consumers(stream, (stream[0], step.other_name))
        if step.action == "change" and info and not step.part and not step.changed_keys & _NOT_TRIED:
            result = schema.without_server_keys(info["config"])
            if not find_differences(adapted.before or {}, result, schema):
                self.kept.add(step.key)

    async def _explain(self, step: Step, adapted: Step, error: JsctlError) -> dict[str, str]:
        """Return why the server refuses a step, by the key that it refuses by itself."""
        reason = error.message
        keys = list(dict.fromkeys(change.key.partition(".")[0] for change in step.changes))
        if step.action != "change" or step.part or (step.kind and len(keys) > 1):
            return {SERVER_KEY: reason}
        before, after = adapted.before or {}, adapted.after or {}
        for key in keys if len(keys) > 1 else ():
            single = {**before, **({key: after[key]} if key in after else {})}
            if key not in after:
                single.pop(key, None)
            try:
                await send_step(adapted._replace(after=single))
            except JsctlError as other:
                if other.message == reason:
                    keys = [key]
                    break
                continue
            try:
                await send_step(adapted._replace(after=before))
            except JsctlError:  # servers take some changes of filters that they do not take back
                break
        if len(keys) > 1:
            return {SERVER_KEY: reason}
        return {change.key: reason for change in step.changes if change.key.partition(".")[0] in keys}

    def _get_api(self, stream: _Stream) -> Api:
        """Return the API for a stream, in the account of its tier."""
        if stream not in self._tiers:
            self._tiers[stream] = get_tier(self._accounts[stream[0]], self._configs[stream])[0]
        return self._apis[stream[0], self._tiers[stream]]

    def _adapt(self, step: Step) -> Step:
        """Return a step for a server that is alone."""
        stream = step.target.key, step.stream
        if not step.consumer and (config := step.after or step.before):
            self._configs[stream] = config
        adapt = _adapt_consumer if step.consumer else _adapt_stream
        return step._replace(
            target=step.target._replace(api=self._get_api(stream)),
            before=step.before and adapt(step.before),
            after=step.after and adapt(step.after),
            changes=[change._replace(before=None) for change in step.changes]
            if step.is_content
            else step.changes,
            other_name="",
        )


def _adapt_stream(config: Json) -> Json:
    return {key: value for key, value in config.items() if key not in _NOT_TRIED} | {"num_replicas": 1}


def _adapt_consumer(config: Json) -> Json:
    return {**config, "num_replicas": min(int(config.get("num_replicas") or 0), 1)}


def _check_replicas(config: Json, stream: Json) -> str:
    """Return why a server refuses the replicas of a consumer, which are not tried (server: consumer.go
    checkConsumerCfg); empty if it does not."""
    replicas, most = int(config.get("num_replicas") or 0), int(stream.get("num_replicas") or 1)
    if replicas > most:
        return f"is more than the {most} of its stream"
    retention = str(stream.get("retention") or "limits")
    must_match = 0 < replicas < most and retention != "limits"
    return f"must be that of its stream, {most}, with {retention} retention" if must_match else ""
