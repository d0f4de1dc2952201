"""The checks of an audit: their names, thresholds and results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Literal

from jsctl.monitor.audit.archive import Archive

Json = dict[str, Any]


class Outcome(IntEnum):
    """The outcome of a check; the numbers are those of the `nats` tool (jsm.go, audit/checks.go)."""

    PASS = 0
    WARN = 1
    FAIL = 2
    SKIP = 3


class NothingToCheck(Exception):
    """The archive does not hold what a check needs; the text says what is missing."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """A number that a check compares with. unit: %, int, uint, or empty."""

    key: str
    description: str
    default: float
    unit: Literal["%", "int", "uint", ""] = ""


@dataclass(slots=True)
class Verdict:
    """The result of a check. examples: what is wrong, a sentence each."""

    outcome: Outcome = Outcome.PASS
    examples: list[str] = field(default_factory=list)

    def add(self, sentence: str, outcome: Outcome) -> None:
        """Add a problem; the worst one is the outcome."""
        self.examples.append(sentence)
        self.outcome = max(self.outcome, outcome)


@dataclass(frozen=True, slots=True)
class Check:
    """A check. run: examines an archive, given the thresholds by key; may raise NothingToCheck, BadInput."""

    code: str
    suite: str
    name: str
    description: str
    run: Callable[[Archive, Mapping[str, float]], Verdict]
    thresholds: Sequence[Threshold] = ()

    def limits(self) -> dict[str, float]:
        """Return the thresholds by key."""
        return {threshold.key: threshold.default for threshold in self.thresholds}

    def record(self) -> Json:
        """Return the check as JSON."""
        return {
            "code": self.code,
            "suite": self.suite,
            "name": self.name,
            "description": self.description,
            "configuration": {
                threshold.key: {
                    "key": threshold.key,
                    "check": self.code,
                    "description": threshold.description,
                    "default": threshold.default,
                    "unit": threshold.unit,
                }
                for threshold in self.thresholds
            },
        }
