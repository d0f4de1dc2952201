"""The checks of an audit: their names, thresholds and results."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from jsctl.monitor.audit.archive import Archive, Json


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


Limits = Mapping[str, float]
"""Thresholds by their key."""

Problems = Iterator[tuple[str, Outcome]]
"""What is wrong, a sentence each, and whether it is a warning or a failure."""

Find = Callable[[Archive, Limits], Problems]


@dataclass(frozen=True, slots=True)
class Check:
    """A check. find: examines an archive; may raise NothingToCheck, BadInput."""

    code: str
    name: str
    description: str
    find: Find
    thresholds: Sequence[Threshold] = ()

    @property
    def suite(self) -> str:
        """The kind of thing that is checked: `server` for SERVER_001."""
        return self.code.partition("_")[0].lower()

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


class Checks(list[Check]):
    """The checks of a module: each is a function that yields what is wrong."""

    def add(self, code: str, name: str, description: str, *thresholds: Threshold) -> Callable[[Find], Find]:
        """Return a decorator that adds a check to the list. name, description: for people."""

        def decorate(find: Find) -> Find:
            self.append(Check(code, name, description, find, thresholds))
            return find

        return decorate


def build_shares(*keys: str) -> list[Threshold]:
    """Return the thresholds of limits of which 90% may be used."""
    return [Threshold(key, "Percent of the limit that may be used", 90, "%") for key in keys]
