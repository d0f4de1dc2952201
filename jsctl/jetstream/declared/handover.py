"""Subjects that go from one stream to another: a stream that is removed, or that takes a subject of the other
in turn, releases them first, by a step of its own.

Creations and changes come before removals, so that a creation that fails costs nothing. A subject belongs to
one stream only, though: the old one gets a subject of nobody (`RELEASED`) until it is removed, or gets its
new ones.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from jsctl.jetstream.config.differences import find_differences
from jsctl.jetstream.declared.step import Key, Step, find_cycle, get_subjects
from jsctl.jetstream.stream.config import STREAM
from jsctl.nats.subject_tree import SubjectTree
from jsctl.nats.subjects import overlaps

RELEASED = "_jsctl.released."
"""Prefix of the subject of a stream that has released its own; its name follows."""


def plan_releases(steps: Sequence[Step]) -> list[Step]:
    """Return the steps, with one before those that must release subjects for others first."""
    takers = _find_takers(steps)
    released = {step.key for step in steps if step.action == "remove" and takers.get(step.key)}
    graph = {key: set(others) for key, others in takers.items() if key not in released}
    while cycle := find_cycle(graph):
        key = next(key for key in cycle if key in graph)
        released.add(key)
        del graph[key]
    by_key = {step.key: step for step in steps}
    result: list[Step] = []
    for step in steps:
        if step.key not in released:
            result.append(step)
            continue
        release = _build_release(step, [by_key[key] for key in takers[step.key]])
        result += [release, _follow(step, release)]
    return result


def list_handovers(steps: Sequence[Step]) -> Iterable[tuple[Key, Key]]:
    """Yield pairs of steps: the first needs the second one done, as that releases a subject for it, or all
    subjects of its own stream."""
    by_key = {step.key: step for step in steps}
    for key, others in _find_takers(steps).items():
        if not by_key[key].is_release and by_key[key]._replace(part="release").key in by_key:
            continue
        yield from ((other, key) for other in others)
    for step in steps:
        release = step._replace(part="release").key
        if not step.is_release and release in by_key:
            yield step.key, release


def _find_takers(steps: Sequence[Step]) -> dict[Key, list[Key]]:
    """Return for each step that gives up subjects the steps of other streams that take them."""
    changing = [step for step in steps if not step.consumer and not step.is_content]
    lost = {step.key: (step, subjects) for step in changing if (subjects := _list_lost(step))}
    trees: dict[int, SubjectTree[Step]] = defaultdict(SubjectTree)
    for step in changing if lost else ():
        if step.after is not None and not step.is_release:
            for subject in get_subjects(step.after):
                trees[step.target.key].add(subject, step)
    return {
        key: list(
            dict.fromkeys(
                taker.key
                for subject in subjects
                for taker in trees[giver.target.key].find(subject)
                if taker.stream != giver.stream
            )
        )
        for key, (giver, subjects) in lost.items()
    }


def _list_lost(step: Step) -> list[str]:
    """Return the subjects that a stream does not keep as they are, parts of which others may take."""
    remaining = {*get_subjects(step.after)}
    return [subject for subject in get_subjects(step.before) if subject not in remaining]


def _build_release(step: Step, takers: Sequence[Step]) -> Step:
    """Return the step after which a stream has only the subjects that it keeps, and nobody takes."""
    before = step.before or {}
    taken = [subject for taker in takers for subject in get_subjects(taker.after)]
    remaining = [
        subject
        for subject in get_subjects(before)
        if not any(overlaps(subject, other) for other in [*taken, *_list_lost(step)])
    ]
    after = {**before, "subjects": remaining or [f"{RELEASED}{step.stream}"]}
    return Step(
        "change",
        step.target,
        step.stream,
        "",
        step.position,
        before,
        after,
        find_differences(before, after, STREAM),
        label=step.label,
        part="release",
    )


def _follow(step: Step, release: Step) -> Step:
    """Return a step as it is after the release."""
    if step.after is None or release.after is None:
        return step._replace(before=release.after)
    changes = [change for change in step.changes if change.key != "subjects"]
    subjects = find_differences(
        {"subjects": release.after["subjects"]}, {"subjects": get_subjects(step.after)}, STREAM
    )
    return step._replace(before=release.after, changes=[*changes, *subjects])
