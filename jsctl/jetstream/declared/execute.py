"""Execute a plan: in order, in parallel where the order allows it, up to the first failure."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

from jsctl.errors import JsctlError
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.declared.plan import Step
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.origins import domain_to_api, list_origins
from jsctl.nats.subjects import overlaps

MAX_PARALLEL = 16

Key = tuple[tuple[int, str], str, str]


class Outcome(NamedTuple):
    """The outcome of the steps. not_tried: those that were not begun because another one failed."""

    done: Sequence[Step]
    failed: Sequence[tuple[Step, JsctlError]]
    not_tried: Sequence[Step]

    @property
    def failure(self) -> JsctlError | None:
        """The first failure; None when all is done."""
        return self.failed[0][1] if self.failed else None


async def execute(steps: Sequence[Step], done: list[Step], advance: Callable[[int], None]) -> Outcome:
    """Execute the steps; after a failure no other is begun.

    done: each step is added when it is done. advance: called with 1 for each.
    """
    by_key = {_key(step): step for step in steps}
    sorter = TopologicalSorter(find_dependencies(steps))
    sorter.prepare()
    failed: list[tuple[Step, JsctlError]] = []
    running: dict[asyncio.Task[None], Key] = {}
    ready: list[Key] = []
    try:
        while sorter.is_active() or running:
            ready.extend(sorter.get_ready())
            while ready and not failed and len(running) < MAX_PARALLEL:
                key = ready.pop(0)
                running[asyncio.create_task(_send(by_key[key]))] = key
            if not running:
                break
            ended, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                key = running.pop(task)
                try:
                    task.result()
                except JsctlError as error:
                    failed.append((by_key[key], error))
                else:
                    done.append(by_key[key])
                    sorter.done(key)
                    advance(1)
    finally:
        for task in running:
            task.cancel()
    position = {_key(step): number for number, step in enumerate(steps)}
    begun = {_key(step) for step in done} | {_key(step) for step, _ in failed}
    return Outcome(
        sorted(done, key=lambda step: position[_key(step)]),
        failed,
        [step for step in steps if _key(step) not in begun],
    )


def find_dependencies(steps: Sequence[Step]) -> dict[Key, set[Key]]:
    """Return for each step the steps to do before it.

    Origins come before their mirrors, streams before their consumers, the stream that gives a subject up
    before the one that takes it, removals last.
    """
    before: dict[Key, set[Key]] = {_key(step): set() for step in steps}
    existing = [step for step in steps if not step.consumer and step.before is not None]
    early: set[Key] = set()
    names = _by_name(steps)
    for step in steps:
        first = before[_key(step)]
        own = (step.target.key, step.stream, "")
        if step.consumer:
            if own in before:
                first.add(own)
        elif step.after is not None:
            first.update(_origin_keys(step, names))
            for other in existing:
                if (
                    other.target.key == step.target.key
                    and other.stream != step.stream
                    and _gives_up_subject(other, step)
                ):
                    first.add(_key(other))
                    early.add(_key(other))
    removals = [step for step in steps if step.action == "remove"]
    rest = {_key(step) for step in steps if step.action != "remove"}
    removed = _by_name(removals)
    for step in removals:
        if _key(step) not in early:
            before[_key(step)] |= rest
        for key in _origin_keys(step, removed):
            before[key].add(_key(step))
    return _break_circles(before)


def _break_circles(before: dict[Key, set[Key]]) -> dict[Key, set[Key]]:
    """Remove one dependency of each cycle: streams of several domains may copy from each other."""
    while True:
        try:
            TopologicalSorter(before).prepare()
        except CycleError as error:
            circle: list[Key] = error.args[1]
            before[circle[1]].discard(circle[0])
        else:
            return before


def _origin_keys(step: Step, by_name: Mapping[str, Sequence[Step]]) -> Iterator[Key]:
    """Yield the steps of the streams that this one copies from, as far as the API prefix shows where they
    are."""
    for origin in list_origins(step.after or step.before or {}):
        api = str((origin.get("external") or {}).get("api") or "")
        for other in by_name.get(str(origin["name"]), ()):
            same = other.target.key == step.target.key
            if api.startswith("$JS."):
                is_origin = api in (other.target.api.prefix, domain_to_api(other.target.domain))
            else:
                is_origin = not same if api else same
            if is_origin and _key(other) != _key(step):
                yield _key(other)


def _by_name(steps: Iterable[Step]) -> dict[str, list[Step]]:
    by_name: dict[str, list[Step]] = {}
    for step in steps:
        if not step.consumer:
            by_name.setdefault(step.stream, []).append(step)
    return by_name


def _gives_up_subject(giver: Step, taker: Step) -> bool:
    """Return whether `giver` loses a subject by its step that `taker` has after its own."""
    before: list[Any] = (giver.before or {}).get("subjects") or []
    after: list[Any] = (giver.after or {}).get("subjects") or []
    taken: list[Any] = (taker.after or {}).get("subjects") or []
    if set(before) <= set(after):
        return False
    return any(
        any(overlaps(own, subject) for own in before) and not any(overlaps(own, subject) for own in after)
        for subject in taken
    )


async def _send(step: Step) -> None:
    api = step.target.api
    match step.action, bool(step.consumer):
        case "create", False:
            await streams.create(api, step.after or {})
        case "change", False:
            await streams.update(api, step.after or {})
        case "remove", False:
            await streams.delete(api, step.stream)
        case "create", True:
            await consumers.create(api, step.stream, step.after or {})
        case "change", True:
            await consumers.update(api, step.stream, step.after or {})
        case _:
            await consumers.delete(api, step.stream, step.consumer)


def _key(step: Step) -> Key:
    return step.target.key, step.stream, step.consumer
