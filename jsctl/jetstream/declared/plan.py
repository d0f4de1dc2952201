"""The plan of changes after which servers have what is declared."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from jsctl.base.loops import gather
from jsctl.base.units import pluralize
from jsctl.errors import BadInput, JsctlError, Unreachable, collecting, raise_all
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.origins import domain_to_api, find_reached, list_origins, pair_origins
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.declared.checks import fetch_accounts, refuse_impossible
from jsctl.jetstream.declared.compare import (
    Rules,
    collect,
    compare_consumer,
    compare_stream,
    fetch_consumers,
    fetch_stream,
    plan_consumer_removal,
    plan_stream_removal,
)
from jsctl.jetstream.declared.conflicts import join_streams
from jsctl.jetstream.declared.contents import CONTENTS
from jsctl.jetstream.declared.handover import plan_releases
from jsctl.jetstream.declared.losses import with_losses
from jsctl.jetstream.declared.model import Declared, Place, Stream, get_label
from jsctl.jetstream.declared.rename import plan_rename
from jsctl.jetstream.declared.step import Action, Key, Step, Target, add_step_losses
from jsctl.jetstream.declared.storage import StorageSource, refuse_oversized
from jsctl.jetstream.declared.trial import Trial
from jsctl.jetstream.declared.warnings import find_plan_warnings
from jsctl.jetstream.message.data_loss import DataLoss, add_losses
from jsctl.jetstream.state import is_silent
from jsctl.jetstream.stream import requests as streams


async def warn_of_renames(steps: Sequence[Step], targets: Iterable[Target]) -> list[str]:
    """Return sentences about the copies of streams that are renamed, wherever the login may list streams:
    mirrors and sources copy from a name, and nothing tells them of another one."""
    renames = [step for step in steps if step.action == "remove" and step.other_name]
    if not renames:
        return []
    by_key = {step.key: step for step in steps}
    distinct = {target.key: target for target in targets if not target.is_missing}.values()
    return [sentence for target in distinct async for sentence in _iterate_sentences(target, renames, by_key)]


async def _iterate_sentences(
    target: Target, renames: Sequence[Step], by_key: Mapping[Key, Step]
) -> AsyncIterator[str]:
    try:
        listed = await streams.collect(
            target.api, lambda info: info if list_origins(info["config"]) else None
        )
    except JsctlError:
        return  # the login may not list streams there
    for rename in renames:
        for name, info in listed.items.items():
            reached = [
                find_reached(info, state)
                for origin, state in pair_origins(info)
                if _is_from(origin, target, rename)
            ]
            step = by_key.get((target.key, name, "", ""))
            if reached and name != rename.other_name and (step is None or step.after is not None):
                after = step.after if step and step.after else info["config"]
                for text in _describe(rename, after, target, reached[0]):
                    yield f"{rename.position}: stream {name}{_format_domain(target)} {text}"


def _describe(rename: Step, after: Json, target: Target, last: int | None) -> Iterator[str]:
    old, new = rename.stream, rename.other_name
    start = f", start={last + 1}" if last is not None else " with a start"
    renewed = rename._replace(stream=new)
    if any(_is_from(origin, target, rename) for origin in list_origins(after)):
        what = "make it again" if after.get("mirror") else f"change its source to {new}{start}"
        yield f"copies {old}, which becomes {new}, and receives nothing any more: {what}"
    elif any(
        _is_from(origin, target, renewed)
        and not (origin.get("opt_start_seq") or origin.get("opt_start_time"))
        for origin in after.get("sources") or ()
    ):
        yield f"receives all of {new} again, which it has from {old}: name a start ({new}{start})"


def _is_from(origin: Json, target: Target, stream: Step) -> bool:
    """Return whether a mirror or source of a place copies a stream."""
    api = str((origin.get("external") or {}).get("api") or "")
    if str(origin["name"]) != stream.stream:
        return False
    return api == domain_to_api(stream.target.domain) if api else target.key == stream.target.key


def _format_domain(target: Target) -> str:
    return f" of domain {target.domain}" if target.domain else ""


TryOut = Callable[[Sequence[Step], Mapping[int, Json]], Awaitable[Trial]]
"""Tries steps beforehand. Called with the limits and the usage of accounts, by place."""


class Plan(NamedTuple):
    """The steps to do. streams, consumers, buckets: how many already are as declared. warnings: of what
    servers accept and people hardly mean, each with its position. kept: steps that would change nothing, as
    servers keep something else than what is declared; counted as declared. wording: of what does not
    change, where nothing was declared."""

    steps: Sequence[Step]
    streams: int
    consumers: int
    buckets: int = 0
    warnings: Sequence[str] = ()
    kept: Sequence[Step] = ()
    wording: str = "as declared"

    @property
    def unchanged(self) -> int:
        """The number of streams, consumers and buckets that already are as declared."""
        return self.streams + self.consumers + self.buckets

    @property
    def refused(self) -> list[Step]:
        """The steps that the server would refuse."""
        return [step for step in self.steps if step.refused]

    @property
    def loss(self) -> DataLoss:
        """The messages that all steps together delete."""
        return add_step_losses(self.steps)

    @property
    def takes(self) -> DataLoss:
        """The messages that all steps together take out of work queues."""
        return add_losses(step.takes for step in self.steps)

    def is_within(self, announced: "Plan") -> bool:
        """Return whether it has the steps of another plan, which delete no more messages."""
        if [step.identity for step in self.steps] != [step.identity for step in announced.steps]:
            return False
        pairs = zip(self.steps, announced.steps, strict=True)
        return not any(now.loss.exceeds(step.loss) for now, step in pairs)

    def select(self, action: Action) -> list[Step]:
        """Return the steps about streams and consumers that the plan creates, changes or removes. One of
        several steps about a stream says which, and the others are parts of it."""
        parts_first = sorted(self.steps, key=lambda step: not step.part)
        actions = {step.main_key: step.action for step in parts_first}
        return [step for step in self.steps if actions[step.main_key] == action]

    def count(self, action: Action) -> int:
        """Count the streams and consumers that the plan creates, changes or removes."""
        return len({step.main_key for step in self.select(action)})


async def make_plan(
    declared: Declared,
    targets: Mapping[Place, Target],
    rules: Rules,
    *,
    prune: bool = False,
    try_out: TryOut | None = None,
    limits: Mapping[str, Json] = MappingProxyType({}),
    storage: StorageSource | None = None,
) -> Plan:
    """Compare what is declared with what exists. prune: plan removals, too. try_out: None if nothing can be
    tried beforehand. limits: those that accounts of places will have, by name. storage: None to leave to
    servers what they have room for. Raises BadInput, and what requests raise."""
    # Different contexts and domains may lead to the same JetStream.
    joined = join_streams(declared.streams, lambda stream: targets[stream.place].key)
    declared = replace(declared, streams=joined)
    gate = asyncio.Semaphore(32)
    names = await _list_names(declared.streams, targets)

    errors: list[BadInput] = []

    async def compare(stream: Stream) -> list[Step | None]:
        target = targets[stream.place]
        is_new = target.key in names and stream.name not in names[target.key]
        async with gate:
            with collecting(errors):
                return await _plan_stream(stream, target, rules, is_new=is_new)
            return []

    groups = await gather(compare(stream) for stream in declared.streams)
    raise_all(errors)
    steps = [step for group in groups for step in group if step]
    if prune:
        steps += await _plan_removals(declared, targets, rules, {step.key: step for step in steps})
    steps = await with_losses(steps, rules.find_protection)
    warnings = await find_plan_warnings(steps)
    warnings += await warn_of_renames(steps, targets.values())
    warnings += [
        f"{step.position}: {taken.origin} does not say whether it is a work queue, which loses what is copied"
        for step in steps
        for taken in step.taken
        if taken.info is None
    ]
    accounts = await fetch_accounts(steps, limits)
    steps = plan_releases(await refuse_impossible(steps, accounts))
    if storage:
        steps, unknown = await refuse_oversized(steps, storage)
        warnings += unknown
    kept: list[Step] = []
    if try_out:
        steps, kept, untried = _apply_trial(steps, await try_out(steps, accounts))
        warnings += untried
    same = [stream for stream, group in zip(declared.streams, groups, strict=True) if group[0] is None]
    same_buckets = sum(bool(stream.kind) for stream in same)
    same_consumers = sum(step is None for group in groups for step in group[1:])
    kept_consumers = sum(bool(step.consumer) for step in kept)
    kept_buckets = sum(bool(step.kind) for step in kept)
    return Plan(
        steps,
        len(same) - same_buckets + len(kept) - kept_consumers - kept_buckets,
        same_consumers + kept_consumers,
        same_buckets + kept_buckets,
        warnings,
        kept,
    )


def _apply_trial(steps: Sequence[Step], trial: Trial) -> tuple[list[Step], list[Step], list[str]]:
    """Return the steps that are left, those after which servers have the same as before, and sentences about
    those that were not tried."""
    left = [
        step._replace(refused={**trial.refused.get(step.key, {}), **step.refused})
        for step in steps
        if step.key not in trial.kept or step.refused
    ]
    untried = [
        f"{step.position or step.stream}: {step.format_name()}: the server may not accept it: {reason}"
        for step in steps
        if (reason := trial.untried.get(step.key))
    ]
    return left, [step for step in steps if step.key in trial.kept and not step.refused], untried


_MANY = 32
"""Declared streams of a place from which on it is asked for all names at once."""


async def _list_names(streams_: Sequence[Stream], targets: Mapping[Place, Target]) -> dict[int, set[str]]:
    """Return the names of all streams of each place for which many are declared; a login that may not ask is
    asked for each."""
    counts = Counter(targets[stream.place].key for stream in streams_ if not targets[stream.place].is_missing)
    apis = {target.key: target.api for target in targets.values() if counts[target.key] >= _MANY}

    async def fetch(key: int, api: Api) -> tuple[int, set[str]] | None:
        try:
            return key, {*await streams.list_names(api)}
        except JsctlError:
            return None

    found = await gather(fetch(key, api) for key, api in apis.items())
    return dict(each for each in found if each)


async def _plan_stream(stream: Stream, target: Target, rules: Rules, *, is_new: bool) -> list[Step | None]:
    """Return the steps for a stream and its consumers, with None for each that already is as declared, and
    the steps for what it holds that differs. is_new: whether it is known not to exist."""
    info = None if is_new else await fetch_stream(target, stream.name)
    compared = [await content.compare(stream, target, info) for content in CONTENTS.values()]
    content_steps = [each for each in compared if each]
    if stream.renamed_from and (steps := await plan_rename(stream, target, rules)) is not None:
        return [*steps, *content_steps]
    consumer_infos = await fetch_consumers(stream.consumers, stream.name, target, info)
    pairs = list(zip(stream.consumers, consumer_infos, strict=True))
    errors: list[BadInput] = []
    step = collect(errors, compare_stream, stream, target, info, rules)
    consumer_steps = [
        collect(errors, compare_consumer, consumer, stream.name, target, found, rules)
        for consumer, found in pairs
    ]
    raise_all(errors)
    permitted = (each and each._replace(allows_loss=stream.allows_data_loss) for each in consumer_steps)
    return [step, *permitted, *content_steps]


async def _plan_removals(
    declared: Declared, targets: Mapping[Place, Target], rules: Rules, planned: Mapping[Key, Step]
) -> list[Step]:
    """Return removals of what carries a label and is no longer declared. planned: the other steps."""
    declared_keys = _list_declared_keys(declared, targets)
    places: dict[int, tuple[Target, frozenset[str]]] = {}
    for place, labels in declared.labels.items():
        target, others = places.get(targets[place].key, (targets[place], frozenset[str]()))
        places[target.key] = target, labels | others
    removals = await gather(
        _plan_removals_at(target, labels, declared, declared_keys, rules, planned)
        for target, labels in places.values()
        if not target.is_missing
    )
    return [step for group in removals for step in group if step.key not in planned]


async def _plan_removals_at(
    target: Target,
    labels: frozenset[str],
    declared: Declared,
    declared_keys: frozenset[Key],
    rules: Rules,
    planned: Mapping[Key, Step],
) -> list[Step]:
    """Return removals of the streams and consumers that carry one of the labels and are no longer declared.

    Raises Unreachable when some of them do not answer: they may be among those to remove.
    """

    def extract(info: Json) -> Json | None:
        if not declared.is_selected(str(info["config"]["name"])):
            return None
        is_of_interest = is_surplus(info) or info["state"].get("consumer_count") or is_silent(info)
        return info if is_of_interest else None

    def is_surplus(info: Json) -> bool:
        key = (target.key, str(info["config"]["name"]), "", "")
        return key not in declared_keys and get_label(info["config"]) in labels

    collected = await streams.collect(target.api, extract)
    silent = [name for name, info in collected.items.items() if is_silent(info)]
    _refuse_silent("stream", [*collected.missing, *collected.offline, *silent], target)
    surplus = [info for info in collected.items.values() if is_surplus(info)]
    # A stream that gets another name keeps its consumers.
    renames = [step for step in planned.values() if step.action == "create" and step.target.key == target.key]
    new_names = {step.other_name: step.stream for step in renames if step.other_name}
    surplus_names = {str(info["config"]["name"]) for info in surplus} - new_names.keys()
    steps = []
    others = {name: info for name, info in collected.items.items() if name not in surplus_names}
    for listed in await consumers.list_consumers_of_streams(target.api, others):
        _refuse_silent("consumer", [f"{listed.stream} > {name}" for name in listed.missing], target)
        for info in listed.infos:
            stream = new_names.get(listed.stream, listed.stream)
            key = (target.key, stream, str(info["name"]), "")
            if key not in declared_keys and (label := get_label(info["config"])) in labels:
                steps.append(plan_consumer_removal(target, {**info, "stream_name": stream}, label))
    removals = (plan_stream_removal(target, info, get_label(info["config"]), rules) for info in surplus)
    return [*steps, *await gather(removals)]


def _refuse_silent(noun: str, names: Sequence[str], target: Target) -> None:
    """Raise Unreachable for streams or consumers that exist and do not answer."""
    if names:
        place = f" of domain {target.domain}" if target.domain else ""
        raise Unreachable(
            f"{pluralize(len(names), noun)}{place} cannot be seen, so --prune cannot tell what to remove:"
            f" {', '.join(sorted(names)[:5])}{', ...' if len(names) > 5 else ''}",
            "start their servers, or leave out --prune",
        )


def _list_declared_keys(declared: Declared, targets: Mapping[Place, Target]) -> frozenset[Key]:
    """Return the keys of all declared streams and consumers."""
    keys: set[Key] = set()
    for stream in declared.streams:
        target_key = targets[stream.place].key
        keys.add((target_key, stream.name, "", ""))
        keys.update((target_key, stream.name, consumer.name, "") for consumer in stream.consumers)
    return frozenset(keys)
