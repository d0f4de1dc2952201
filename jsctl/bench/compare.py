"""Comparison of two results of a benchmark."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from jsctl.base.files import read_text
from jsctl.base.json_text import parse_json
from jsctl.base.user_folders import expand_home
from jsctl.bench.histogram import read_percentiles
from jsctl.errors import BadInput

_LARGEST = 64 << 20

Json = dict[str, Any]


class Difference(NamedTuple):
    """A measure of both results.

    unit: how it is shown. change: relative difference of the second, None when the first is 0. is_better:
    whether the second is better, None when neither is.
    """

    measure: str
    unit: str
    first: float
    second: float
    change: float | None
    is_better: bool | None


class Comparison(NamedTuple):
    """The comparison of two results. warnings: reasons why the two are hard to compare."""

    differences: list[Difference]
    warnings: list[str]


def read_result(path: str) -> Json:
    """Read the output of a benchmark's `--json`. Raises BadInput."""
    text = read_text(expand_home(path), "", _LARGEST)
    try:
        document = parse_json(text.encode())
    except ValueError:
        raise BadInput(f"{path} is not JSON", "use the output of jsctl bench ... --json") from None
    if not isinstance(document, dict) or not _is_result(document):
        raise BadInput(f"{path} is not the result of a benchmark", "use the output of jsctl bench ... --json")
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


def compare(first_result: Json, second_result: Json) -> Comparison:
    """Return how the second result differs from the first."""
    measures: list[tuple[str, str, float, float, bool | None]] = [
        (measure, unit, first_result[key], second_result[key], more_is_better)
        for measure, unit, key, more_is_better in (
            ("Messages", "count", "messages", None),
            ("Messages/s", "rate", "messages_per_second", True),
            ("Bytes/s", "bytes", "bytes_per_second", True),
        )
    ]
    first, second = (_list_latencies(result.get("latency")) for result in (first_result, second_result))
    measures += [
        (measure, "latency", first[measure], second[measure], False) for measure in first if measure in second
    ]
    differences = [_compare_measure(*measure) for measure in measures]
    return Comparison(differences, _list_warnings(first_result, second_result))


def _list_latencies(latency: Json | None) -> dict[str, float]:
    """Return the latencies of a result in ns, by measure; none for a result without."""
    if not latency:
        return {}
    percentiles = {f"Latency P{share}": span for share, span in read_percentiles(latency).items()}
    return {"Latency mean": latency["mean_ns"], **percentiles, "Latency max": latency["max_ns"]}


def _compare_measure(
    measure: str, unit: str, first: float, second: float, more_is_better: bool | None
) -> Difference:
    change = second / first - 1 if first else None
    better = None
    if more_is_better is not None and first != second:
        better = (second > first) == more_is_better
    return Difference(measure, unit, first, second, change, better)


def _list_warnings(first_result: Json, second_result: Json) -> list[str]:
    warnings = []
    if first_result["bench"] != second_result["bench"]:
        warnings.append(
            f"the first is bench {first_result['bench']}, the second bench {second_result['bench']}"
        )
    first_options, second_options = first_result.get("options"), second_result.get("options")
    if isinstance(first_options, Mapping) and isinstance(second_options, Mapping):
        keys = [
            key
            for key in first_options
            if key in second_options and first_options[key] != second_options[key]
        ]
        if keys:
            warnings.append(f"their options differ: {', '.join(sorted(keys))}")
    for name, document in (("first", first_result), ("second", second_result)):
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
