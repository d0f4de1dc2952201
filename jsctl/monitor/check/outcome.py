"""The outcome of a check in the form that monitoring systems expect: what is good, what is bad, the
numbers.
"""

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import NamedTuple


class CheckStatus(IntEnum):
    """Status of a Nagios plugin, which is the exit status."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


class Measure(NamedTuple):
    """A number of a check. unit: s, B, % or empty. warn, critical: thresholds; None for none."""

    name: str
    value: float
    label: str
    unit: str = ""
    warn: float | None = None
    critical: float | None = None


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

    def measure(
        self,
        name: str,
        value: float,
        label: str,
        *,
        unit: str = "",
        warn: float | None = None,
        critical: float | None = None,
        low_is_bad: bool = False,
        format_value: Callable[[float], str] = "{:,g}".format,
    ) -> None:
        """Add a number, and compare it with its thresholds, which are allowed values.

        label: what the number is, for people. low_is_bad: the thresholds are minimums; without it they are
        minimums only if `critical` is below `warn` and the unit is not seconds. format_value: writes the
        number for people.
        """
        self.measures.append(Measure(name, value, label, unit, warn, critical))
        is_span = unit == "s"
        low_is_bad = low_is_bad or (
            not is_span and warn is not None and critical is not None and critical < warn
        )
        bound_words = "at least" if low_is_bad else "at most"
        for limit, sentences in ((critical, self.criticals), (warn, self.warnings)):
            if limit is not None and (value < limit if low_is_bad else value > limit):
                sentences.append(f"{label} {format_value(value)}, {bound_words} {format_value(limit)}")
                return
        if warn is not None or critical is not None:
            self.good.append(f"{label} {format_value(value)}")

    def require(self, holds: bool, good: str, critical: str) -> None:
        """Add a sentence: `good` if the condition holds, or else `critical`."""
        (self.good if holds else self.criticals).append(good if holds else critical)
