"""The metrics of what is wrong, and of what was not looked at. No I/O."""

import re
from collections.abc import Iterator, Mapping, Sequence

from jsctl.jetstream.api import Json
from jsctl.monitor.exporter.sample import Labels, Sample
from jsctl.monitor.report.lines import TroubleLine
from jsctl.monitor.report.places import Answers, Place
from jsctl.monitor.trouble import BAD, WARN, find_level

EPHEMERAL = "(ephemeral)"
"""The name in labels of all consumers of a stream that are not durable."""

HELP: Mapping[str, str] = {
    "jsctl_not_checked": "Whether a part could not be looked at, so that it may be well or wrong",
    "jsctl_problem": "1 for each thing that is wrong",
    "jsctl_problems": "How many streams, copies, consumers and others have something wrong",
}

_LEVELS = {WARN: "warning", BAD: "bad"}
_PARTS = ("streams", "consumers", "account")


def build_gap_samples(place: Place, answers: Answers, where: Labels) -> Iterator[Sample]:
    """Yield for each part whether it could not be looked at. A place that does not answer has none that
    could; one that has servers alone has no such parts."""
    if answers.overview is None and answers.servers is not None:
        return
    missing = {gap.part for gap in place.tracker.gaps} if answers.overview is not None else set(_PARTS)
    for part in _PARTS:
        yield Sample("jsctl_not_checked", {**where, "part": part}, float(part in missing))


def find_ephemeral(infos: Sequence[Json]) -> set[tuple[str, ...]]:
    """Return the streams and names of the consumers that are not durable."""
    return {
        (str(info["stream_name"]), str(info["name"]))
        for info in infos
        if not (info.get("config") or {}).get("durable_name")
    }


def build_problem_samples(
    problems: Sequence[TroubleLine], where: Labels, ephemeral: set[tuple[str, ...]]
) -> Iterator[Sample]:
    """Yield what is wrong, a sample for each. ephemeral: consumers whose names would make new series."""
    counts = {"bad": 0, "warning": 0}
    yielded_keys = set()
    for problem in problems:
        counts[_LEVELS[problem.level]] += 1
        name = (problem.name[0], EPHEMERAL) if problem.name in ephemeral else problem.name
        for trouble in problem.troubles:
            problem_labels = {
                "kind": problem.kind,
                "name": " > ".join(name),
                # Numbers and the names of ephemeral consumers would make a new series in each round.
                "problem": re.sub(r"\d[\d,.]*", "#", trouble.words),
                "code": trouble.code,
                "level": _LEVELS[find_level([trouble])],
            }
            labels = {**where, **problem_labels}
            key = tuple(labels.values())
            if key not in yielded_keys:
                yielded_keys.add(key)
                yield Sample("jsctl_problem", labels, 1)
    for level, count in counts.items():
        yield Sample("jsctl_problems", {**where, "level": level}, count)
