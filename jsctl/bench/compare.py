"""Two results of a benchmark side by side."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from jsctl.bench.histogram import read_percentiles
from jsctl.errors import BadInput
from jsctl.files import read_text
from jsctl.json_text import parse_json
from jsctl.user_folders import expand_home

_LARGEST = 64 << 20

Json = dict[str, Any]


class Difference(NamedTuple):
    """A measure of both results.

    unit: how it is shown. change: the share by which the second differs, None when the first is 0. is_better:
    whether the second is better, None when that has no meaning.
    """

    measure: str
    unit: str
    first: float
    second: float
    change: float | None
    is_better: bool | None


class Comparison(NamedTuple):
    """The comparison of two results. warnings: why the two are hard to compare."""

    differences: list[Difference]
    warnings: list[str]


def read_result(path: str) -> Json:
    """Read the output of a benchmark's `--json`. Raises BadInput."""
    text = read_text(expand_home(path), "", _LARGEST)
    try:
        document = parse_json(text.encode())
    except ValueError:
        raise BadInput(f"{path} is not JSON", "jsctl bench ... --json writes what is compared") from None
    if not isinstance(document, dict) or not _is_result(document):
        raise BadInput(
            f"{path} is not the result of a benchmark", "jsctl bench ... --json writes what is compared"
        )
    return document


def _is_result(document: Json) -> bool:
    numbers = ("messages", "bytes", "duration_ns", "messages_per_second", "bytes_per_second")
    if not isinstance(document.get("bench"), str):
        return False
    if not all(isinstance(document.get(key), (int, float)) for key in numbers):
        return False
    latency = document.get("latency")
    if latency is None:
        return True
    if not isinstance(latency, dict) or not isinstance(latency.get("percentiles_ns"), dict):
        return False
    values = [*latency["percentiles_ns"].values(), latency.get("mean_ns"), latency.get("max_ns")]
    return all(isinstance(value, (int, float)) for value in values)


def compare(one: Json, other: Json) -> Comparison:
    """Return how the second result differs from the first."""
    differences = [
        _difference("Messages", "count", one["messages"], other["messages"], None),
        _difference("Messages/s", "rate", one["messages_per_second"], other["messages_per_second"], True),
        _difference("Bytes/s", "bytes", one["bytes_per_second"], other["bytes_per_second"], True),
    ]
    first, second = one.get("latency") or {}, other.get("latency") or {}
    if first and second:
        differences.append(_difference("Latency mean", "latency", first["mean_ns"], second["mean_ns"], False))
        before, after = read_percentiles(first), read_percentiles(second)
        differences += [
            _difference(f"Latency P{share}", "latency", before[share], after[share], False)
            for share in before
            if share in after
        ]
        differences.append(_difference("Latency max", "latency", first["max_ns"], second["max_ns"], False))
    return Comparison(differences, _warnings(one, other))


def _difference(
    measure: str, unit: str, first: float, second: float, more_is_better: bool | None
) -> Difference:
    change = second / first - 1 if first else None
    better = None
    if more_is_better is not None and first != second:
        better = (second > first) == more_is_better
    return Difference(measure, unit, first, second, change, better)


def _warnings(one: Json, other: Json) -> list[str]:
    warnings = []
    if one["bench"] != other["bench"]:
        warnings.append(f"the first is bench {one['bench']}, the second bench {other['bench']}")
    options, others = one.get("options"), other.get("options")
    if isinstance(options, Mapping) and isinstance(others, Mapping):
        keys = [key for key in options if key in others and options[key] != others[key]]
        if keys:
            warnings.append(f"their options differ: {', '.join(sorted(keys))}")
    for name, document in (("first", one), ("second", other)):
        if document.get("complete") is False:
            warnings.append(f"the {name} one ended early")
    return warnings


def find_regressions(comparison: Comparison, tolerance: float) -> list[Difference]:
    """Return the rate and the percentiles that are worse by more than `tolerance`, a share."""
    return [
        difference
        for difference in comparison.differences
        if difference.is_better is False
        and difference.change is not None
        and abs(difference.change) > tolerance
        and difference.measure in ("Messages/s", "Latency P50", "Latency P99")
    ]
