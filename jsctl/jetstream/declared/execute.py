"""The execution of a plan: in order, in parallel where the order allows it, up to the first failure."""

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
    """The outcome of the steps. not_tried: steps that were not started because another one failed."""

    done: Sequence[Step]
    failed: Sequence[tuple[Step, JsctlError]]
    not_tried: Sequence[Step]

    @property
    def failure(self) -> JsctlError | None:
        """The first failure; None when all steps are done."""
        return self.failed[0][1] if self.failed else None


async def execute(steps: Sequence[Step], done: list[Step], advance: Callable[[int], None]) -> Outcome:
    """Execute the steps; after a failure no further step is started.

    done: receives each step that is done. advance: called with 1 for each.
    """
    by_key = {_build_key(step): step for step in steps}
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
            finished, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in finished:
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
    position = {_build_key(step): number for number, step in enumerate(steps)}
    started = {_build_key(step) for step in done} | {_build_key(step) for step, _ in failed}
    return Outcome(
        sorted(done, key=lambda step: position[_build_key(step)]),
        failed,
        [step for step in steps if _build_key(step) not in started],
    )


def find_dependencies(steps: Sequence[Step]) -> dict[Key, set[Key]]:
    """Return for each step the steps that must be done before it.

    Origins come before their mirrors, streams before their consumers, a stream that gives up a subject before
    the one that takes it over, removals last.
    """
    required: dict[Key, set[Key]] = {_build_key(step): set() for step in steps}
    existing = [step for step in steps if not step.consumer and step.before is not None]
    removed_early: set[Key] = set()
    names = _group_by_name(steps)
    for step in steps:
        required_here = required[_build_key(step)]
        stream_key = (step.target.key, step.stream, "")
        if step.consumer:
            if stream_key in required:
                required_here.add(stream_key)
        elif step.after is not None:
            required_here.update(_find_origin_keys(step, names))
            for other in existing:
                if (
                    other.target.key == step.target.key
                    and other.stream != step.stream
                    and _is_giving_up_subject(other, step)
                ):
                    required_here.add(_build_key(other))
                    removed_early.add(_build_key(other))
    removals = [step for step in steps if step.action == "remove"]
    lasting = {_build_key(step) for step in steps if step.action != "remove"}
    removals_by_name = _group_by_name(removals)
    for step in removals:
        if _build_key(step) not in removed_early:
            required[_build_key(step)] |= lasting
        for key in _find_origin_keys(step, removals_by_name):
            required[key].add(_build_key(step))
    return _break_cycles(required)


def _break_cycles(required: dict[Key, set[Key]]) -> dict[Key, set[Key]]:
    """Remove one dependency of each cycle: streams of several domains may copy from each other."""
    while True:
        try:
            TopologicalSorter(required).prepare()
        except CycleError as error:
            cycle: list[Key] = error.args[1]
            required[cycle[1]].discard(cycle[0])
        else:
            return required


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
            if is_origin and _build_key(other) != _build_key(step):
                yield _build_key(other)


def _group_by_name(steps: Iterable[Step]) -> dict[str, list[Step]]:
    by_name: dict[str, list[Step]] = {}
    for step in steps:
        if not step.consumer:
            by_name.setdefault(step.stream, []).append(step)
    return by_name


def _is_giving_up_subject(releasing: Step, claiming: Step) -> bool:
    """Return whether the step `releasing` removes a subject that the stream of `claiming` will have."""
    before: list[Any] = (releasing.before or {}).get("subjects") or []
    after: list[Any] = (releasing.after or {}).get("subjects") or []
    subjects: list[Any] = (claiming.after or {}).get("subjects") or []
    if set(before) <= set(after):
        return False
    return any(
        any(overlaps(own, subject) for own in before) and not any(overlaps(own, subject) for own in after)
        for subject in subjects
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


def _build_key(step: Step) -> Key:
    return step.target.key, step.stream, step.consumer
