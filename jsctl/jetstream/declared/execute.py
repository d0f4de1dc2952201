"""The execution of a plan: in order, in parallel where the order allows it, as a whole or not at all."""

import asyncio
import itertools
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from graphlib import TopologicalSorter
from typing import NamedTuple, TypeVar

from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.differences import Difference, find_differences
from jsctl.jetstream.config.origins import domain_to_api, list_origins
from jsctl.jetstream.config.writing import read_fresh, verify
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import CONSUMER
from jsctl.jetstream.declared.compare import Rules, Stale, compare_again, plan_again
from jsctl.jetstream.declared.contents import CONTENTS
from jsctl.jetstream.declared.handover import list_handovers
from jsctl.jetstream.declared.rename import copy_renamed
from jsctl.jetstream.declared.step import Key, Step, find_cycle
from jsctl.jetstream.declared.undo import Deed, undo
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.config import STREAM

MAX_PARALLEL = 16

K = TypeVar("K")

_SEALED = ("sealed", "deny_delete", "deny_purge")
"""Keys that a sealed stream has, and with which it cannot be created or sealed."""


class Outcome(NamedTuple):
    """The outcome of the steps. not_tried: steps that were not started because another one failed.
    taken_back: steps that were done and undone for the same reason. remarks: by step, what else people should
    know of it: what a server made of it, or why it was not taken back."""

    done: Sequence[Step]
    failed: Sequence[tuple[Step, JsctlError]]
    not_tried: Sequence[Step]
    taken_back: Sequence[Step] = ()
    remarks: Mapping[Key, str] = {}

    @property
    def failure(self) -> JsctlError | None:
        """The first failure; None when all steps are done."""
        return self.failed[0][1] if self.failed else None


async def execute(
    steps: Sequence[Step],
    rules: Rules,
    begun: list[Step],
    done: list[Step],
    advance: Callable[[int], None],
) -> Outcome:
    """Execute the steps. After a failure no further step is started, and what was done is taken back (see
    `undo`). At the end, changes are verified.

    Each change or removal is compared again right before it is sent, and refused (Stale) if it is not what
    the plan said. begun, done: receive each step that is begun, and done. advance: called with 1 for each
    that is done.
    """
    by_key = {step.key: step for step in steps}
    deeds: list[Deed] = []

    async def do(key: Key) -> None:
        if step := by_key.get(key):
            begun.append(step)
            if deed := await _send(step, rules):
                deeds.append(deed)
            done.append(step)
            advance(1)

    failed = [(by_key[key], error) for key, error in (await run(find_dependencies(steps), do)).items()]
    remarks = {
        deed.step.key: _describe_rewriting(changes) for deed in deeds if (changes := _list_rewritten(deed))
    }
    taken_back: list[Step] = []
    if failed:
        stays = await undo(deeds)
        remarks |= stays
        back = {deed.step.key for deed in deeds} - stays.keys()
        taken_back = [step for step in done if step.key in back]
        done[:] = [step for step in done if step.key not in back]
    else:
        changed = [deed for deed in deeds if deed.step.action == "change" and not deed.step.part]
        failed += await _verify(changed, by_key, rules)
        failed_keys = {step.key for step, _ in failed}
        done[:] = [step for step in done if step.key not in failed_keys]
    position = {step.key: number for number, step in enumerate(steps)}
    started = {step.key for step in (*done, *taken_back)} | {step.key for step, _ in failed}
    return Outcome(
        sorted(done, key=lambda step: position[step.key]),
        failed,
        [step for step in steps if step.key not in started],
        sorted(taken_back, key=lambda step: position[step.key]),
        remarks,
    )


async def run(required: Mapping[K, Collection[K]], do: Callable[[K], Awaitable[None]]) -> dict[K, JsctlError]:
    """Do every key after those that it requires, several at the same time where the order allows it. After a
    failure nothing more is started; return what failed."""
    sorter = TopologicalSorter(required)
    sorter.prepare()
    failed: dict[K, JsctlError] = {}
    running: dict[asyncio.Future[None], K] = {}
    ready: deque[K] = deque()
    try:
        while True:
            ready.extend(sorter.get_ready())
            while ready and not failed and len(running) < MAX_PARALLEL:
                key = ready.popleft()
                running[asyncio.ensure_future(do(key))] = key
            if not running:
                return failed
            finished, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for future in finished:
                key = running.pop(future)
                try:
                    future.result()
                except JsctlError as error:
                    failed[key] = error
                else:
                    sorter.done(key)
    finally:
        for future in running:
            future.cancel()


def _list_rewritten(deed: Deed) -> Sequence[Difference]:
    """Return what the server has instead of what was sent, of the keys that a step changes."""
    step = deed.step
    if not deed.info or not step.after or step.part:
        return ()
    schema = CONSUMER if step.consumer else STREAM
    keys = step.changed_keys
    changes = find_differences(step.after, schema.without_server_keys(deed.info["config"]), schema)
    return [change for change in changes if change.key.partition(".")[0] in keys]


def _describe_rewriting(changes: Sequence[Difference]) -> str:
    values = ", ".join(f"{change.key} {change.kind.format(change.after)}" for change in changes)
    return f"the server made of it: {values}"


_BARRIER: Key = (-1, "", "", "")
"""What comes between all other steps and removals."""


def find_dependencies(steps: Sequence[Step]) -> dict[Key, set[Key]]:
    """Return for each step the steps that must be done before it.

    Origins come before their mirrors, streams before their consumers, but after new ones that keep messages;
    new consumers before those that change, a stream that gives up a subject before the one that takes it,
    removals last: behind a key of its own, which is no step's.
    """
    required: dict[Key, set[Key]] = {step.key: set() for step in steps}
    names = _group_by_name(steps)
    followers = {step.key for step in steps if step.follows_new_consumers}
    for step in steps:
        required_here = required[step.key]
        stream_key: Key = (step.target.key, step.stream, "", "")
        if step.consumer and step.action == "create" and stream_key in followers:
            required[stream_key].add(step.key)
        elif step.consumer or step.is_content:
            if stream_key in required:
                required_here.add(stream_key)
        elif step.after is not None:
            required_here.update(_find_origin_keys(step, names))
    for key, needed in _order_consumers(steps):
        required[key].add(needed)
    for key, needed in list_handovers(steps):
        required[key].add(needed)
    removals = [step for step in steps if step.action == "remove"]
    if removals:
        required[_BARRIER] = {step.key for step in steps if step.action != "remove"}
    removals_by_name = _group_by_name(removals)
    for step in removals:
        required[step.key].add(_BARRIER)
        for key in _find_origin_keys(step, removals_by_name):
            required[key].add(step.key)
    while cycle := find_cycle(required):  # streams of several domains may copy from each other
        required[cycle[1]].discard(cycle[0])
    return required


def _order_consumers(steps: Sequence[Step]) -> Iterator[tuple[Key, Key]]:
    """Yield pairs of steps for consumers of one stream: the first needs the second one done. A new one keeps
    what others no longer need; in a work queue, those free the filter that it gets."""
    by_stream: dict[tuple[object, str], list[Step]] = {}
    for step in steps:
        if step.consumer and step.retention in ("interest", "workqueue"):
            by_stream.setdefault((step.target.key, step.stream), []).append(step)
    for group in by_stream.values():
        for creation, change in itertools.product(group, group):
            if (creation.action, change.action) == ("create", "change"):
                pair = change.key, creation.key
                yield pair if change.retention == "interest" else pair[::-1]


def _find_origin_keys(step: Step, by_name: Mapping[str, Sequence[Step]]) -> Iterator[Key]:
    """Yield the keys of the steps for streams that this one copies from, if the API prefix shows where they
    are."""
    for origin in list_origins(step.after or step.before or {}):
        api = str((origin.get("external") or {}).get("api") or "")
        for other in by_name.get(str(origin["name"]), ()):
            same = other.target.key == step.target.key
            if api.startswith("$JS."):
                is_origin = api in (other.target.api.prefix, domain_to_api(other.target.domain))
            else:
                is_origin = not same if api else same
            if is_origin and other.key != step.key:
                yield other.key


def _group_by_name(steps: Iterable[Step]) -> dict[str, list[Step]]:
    by_name: dict[str, list[Step]] = {}
    for step in steps:
        if not step.consumer:
            by_name.setdefault(step.stream, []).append(step)
    return by_name


async def _verify(
    deeds: Sequence[Deed], by_key: Mapping[Key, Step], rules: Rules
) -> list[tuple[Step, JsctlError]]:
    """Send changes again that somebody else's request has undone; return those that are not there at the end.

    What somebody else has set to a value of their own is not undone but changed, and stays. What the server
    has made of a change is no one's.
    """
    slots = asyncio.Semaphore(MAX_PARALLEL)
    failed: list[tuple[Step, JsctlError]] = []

    async def repair(deed: Deed) -> bool:
        step = by_key[deed.step.key]
        async with slots:
            now = await compare_again(step, rules)
            rewritten = {change.key.partition(".")[0] for change in _list_rewritten(deed)}
            if now is None or now.changed_keys <= rewritten:
                return False
            if now.refused or now.summary != step.summary:
                failed.append((step, Stale("somebody else has changed it since", now)))
                return False
            await send_step(now)
            return True

    undone = [by_key[deed.step.key] for deed in await verify(deeds, repair)]
    return [*failed, *((step, Stale("somebody else changes it at the same time", step)) for step in undone)]


async def _send(step: Step, rules: Rules) -> Deed | None:
    """Do a step if it still is what the plan said; None if nothing was left to do. Raises Stale, and what
    requests raise."""
    fresh = step if step.action == "create" else await read_fresh(partial(plan_again, step, rules))
    return Deed(fresh, await send_step(fresh)) if fresh else None


async def _create(api: Api, config: Json) -> Json:
    """Create a stream; a sealed one is sealed afterwards, as the server creates none that is
    (checkStreamCfg). Return its info, nothing for one that existed already."""
    if not config.get("sealed"):
        info, is_new = await streams.create(api, config)
        return info if is_new else {}
    info, _ = await streams.create(api, {key: value for key, value in config.items() if key not in _SEALED})
    return await streams.update(api, {**STREAM.without_server_keys(info["config"]), "sealed": True})


async def _update_consumer(step: Step) -> Json | None:
    """Update a consumer, and pause or resume it: an update leaves a pause as it is (server: consumer.go)."""
    api, before, after = step.target.api, step.before or {}, step.after or {}
    info: Json | None = None
    if any(change.key != "pause_until" for change in step.changes):
        sent = {**after, "pause_until": before.get("pause_until")}
        info = await consumers.update(api, step.stream, sent)
    if before.get("pause_until") != after.get("pause_until"):
        if until := after.get("pause_until"):
            await consumers.pause(api, step.stream, step.consumer, until)
        else:
            await consumers.resume(api, step.stream, step.consumer)
        return None
    return info


async def send_step(step: Step) -> Json | None:
    """Do a step, and return the stream's or consumer's info, where the server says it; nothing of one that
    was there already. Raises what requests raise."""
    api = step.target.api
    if step.is_content:
        await CONTENTS[step.part].send(step)
        return None
    match step.action, bool(step.consumer):
        case "create", False if step.other_name:
            await copy_renamed(step)
        case "create", False:
            return await _create(api, step.after or {})
        case "change", False:
            return await streams.update(api, step.after or {})
        case "remove", False:
            await streams.delete(api, step.stream)
        case "create", True:
            info, is_new = await consumers.create(api, step.stream, step.after or {})
            return info if is_new else {}
        case "change", True:
            return await _update_consumer(step)
        case _:
            await consumers.delete(api, step.stream, step.consumer)
    return None
