"""The outcome of a check in the form that monitoring systems expect: what is good, what is bad, the
numbers.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Literal, NamedTuple

from jsctl.base.units import SECOND, format_duration

Bad = Literal["high", "low", "either"]
Limits = Mapping[str, float]
"""Thresholds by the name of their flag, such as `lag-critical`. Spans are ns."""

Pair = tuple[float | None, float | None]
"""The thresholds for a warning and for a critical number; None for none. Spans are ns."""


class CheckStatus(IntEnum):
    """Status of a Nagios plugin, which is the exit status."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


def get_limit(limits: Limits, key: str) -> float | None:
    """Return a threshold, or None: 0 and less mean none, too."""
    limit = limits.get(key, 0)
    return limit if limit > 0 else None


def get_pair(limits: Limits, key: str) -> Pair:
    """Return the thresholds `key`-warn and `key`-critical."""
    return get_limit(limits, f"{key}-warn"), get_limit(limits, f"{key}-critical")


def format_number(value: float) -> str:
    """Format a number as people read it, with two digits after the point at most: 1,234.5."""
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def format_seconds(seconds: float) -> str:
    """Format seconds as people read them: 2m3s."""
    return format_duration(int(seconds * SECOND))


class Measure(NamedTuple):
    """A number of a check. unit: s, B, % or empty. warn, critical: the thresholds in force; 0 for none, as in
    the JSON of `nats`."""

    name: str
    value: float
    label: str
    unit: str = ""
    warn: float = 0
    critical: float = 0


class Check:
    """The result of a check. suite: the kind of thing checked, "stream". name: which one, "ORDERS"."""

    def __init__(self, suite: str, name: str, *, criticals: Sequence[str] = ()) -> None:
        self.suite = suite
        self.name = name
        self.good: list[str] = []
        self.warnings: list[str] = []
        self.criticals = [*criticals]
        self.measures: list[Measure] = []

    @property
    def status(self) -> CheckStatus:
        """The worst status of all parts."""
        if self.criticals:
            return CheckStatus.CRITICAL
        return CheckStatus.WARNING if self.warnings else CheckStatus.OK

    def report(
        self, name: str, value: float, label: str, thresholds: Pair = (None, None), *, unit: str = ""
    ) -> Pair:
        """Add a number that is not compared. Returns its thresholds in its unit.

        label: what it is, for people.
        """
        warn, critical = thresholds
        if unit == "s":
            warn, critical = (limit and limit / SECOND for limit in (warn, critical))
        self.measures.append(Measure(name, value, label, unit, warn or 0, critical or 0))
        return warn, critical

    def measure(
        self,
        name: str,
        value: float,
        label: str,
        thresholds: Pair,
        *,
        unit: str = "",
        bad: Bad = "high",
        reached: bool = True,
        ordered: bool = False,
    ) -> None:
        """Add a number, and compare it with its thresholds.

        bad: whether large or small numbers are bad; "either": large ones, unless the critical threshold (0 if
        it is not given) is below the one for warnings. reached: whether a number that equals a threshold is
        bad, too. ordered: whether thresholds in the wrong order are critical. All three are as in `nats`
        (jsm.go: monitor).
        """
        warn, critical = self.report(name, value, label, thresholds, unit=unit)
        if warn is None and critical is None:
            return
        form = format_seconds if unit == "s" else format_number
        low = bad == "low" or (bad == "either" and (critical or 0) < (warn or 0))
        pair = (warn, critical) if low else (critical, warn)
        if ordered and pair[0] is not None and pair[1] is not None and pair[0] < pair[1]:
            words = "above" if low else "below"
            self.criticals.append(f"{label}: the critical threshold is {words} the one for warnings")
            return
        for limit, sentences in ((critical, self.criticals), (warn, self.warnings)):
            if limit is not None and _is_bad(value, limit, low, reached):
                words = ("must be above" if low else "must be below") if reached else "at most"
                sentences.append(f"{label} {form(value)}, {words} {form(limit)}")
                return
        self.good.append(f"{label} {form(value)}")

    def require(self, holds: bool, good: str, critical: str) -> None:
        """Add a sentence: `good` if the condition holds, or else `critical`."""
        (self.good if holds else self.criticals).append(good if holds else critical)


def _is_bad(value: float, limit: float, low: bool, reached: bool) -> bool:
    if value == limit:
        return reached
    return value < limit if low else value > limit
