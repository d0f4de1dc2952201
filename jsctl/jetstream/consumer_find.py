"""Consumers that fit certain criteria. Pure: infos in, infos out."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from jsctl.jetstream import reports
from jsctl.jetstream.api import Json
from jsctl.jetstream.consumers import is_pull
from jsctl.jetstream.expression import compile_expression
from jsctl.jetstream.find import GoStruct
from jsctl.units import SECOND, parse_time

Test = Callable[[Json], bool]


@dataclass(frozen=True, slots=True)
class Criteria:
    """What is looked for; None, empty and False ask nothing.

    waiting, ack_pending, pending: fewer than so many. idle, created: ns. replicas: at most so many.
    invert: the opposite of each criterion.
    """

    pull: bool = False
    push: bool = False
    bound: bool = False
    waiting: int | None = None
    ack_pending: int | None = None
    pending: int | None = None
    idle: int | None = None
    created: int | None = None
    replicas: int | None = None
    leader: str = ""
    pinned: bool = False
    expression: str = ""
    api_level: int | None = None
    invert: bool = False


def find(infos: Iterable[Json], wanted: Criteria, now: float) -> list[Json]:
    """Those infos that fit. now: seconds since the epoch. Raises ValueError for what cannot be read."""
    tests = _tests(wanted, now)
    return [info for info in infos if all(test(info) != wanted.invert for test in tests)]


def _tests(wanted: Criteria, now: float) -> list[Test]:
    tests: list[Test] = []
    if wanted.pull:
        tests.append(lambda info: is_pull(info["config"]))
    if wanted.push:
        tests.append(lambda info: not is_pull(info["config"]))
    if wanted.bound:
        tests.append(lambda info: bool(info.get("push_bound") or info.get("num_waiting")))
    for key, least in (
        ("num_waiting", wanted.waiting),
        ("num_ack_pending", wanted.ack_pending),
        ("num_pending", wanted.pending),
    ):
        if least is not None:
            tests.append(lambda info, key=key, least=least: int(info.get(key, 0)) < least)  # type: ignore[misc]
    if (idle := wanted.idle) is not None:
        tests.append(lambda info: _age((info.get("delivered") or {}).get("last_active"), now) > idle)
    if (created := wanted.created) is not None:
        tests.append(lambda info: _age(info.get("created"), now) >= created)
    if (replicas := wanted.replicas) is not None:
        tests.append(lambda info: _replicas(info) <= replicas)
    if wanted.leader:
        tests.append(lambda info: (info.get("cluster") or {}).get("leader") == wanted.leader)
    if wanted.pinned:
        tests.append(_pinned)
    if (level := wanted.api_level) is not None:
        tests.append(lambda info: reports.needed_level(info["config"]) >= level)
    if wanted.expression:
        holds = compile_expression(wanted.expression)
        tests.append(
            lambda info: holds(
                {"config": info["config"], "state": info, "info": info, "Info": GoStruct(info)}
            )
        )
    return tests


def _replicas(info: Json) -> int:
    """What it has, not what it was asked for: 0 there means as many as the stream."""
    return len((info.get("cluster") or {}).get("replicas") or []) + 1


def _pinned(info: Json) -> bool:
    """Whether every priority group of a pinned consumer has its client."""
    groups = info["config"].get("priority_groups") or []
    pins = [group for group in info.get("priority_groups") or [] if group.get("pinned_client_id")]
    return info["config"].get("priority_policy") == "pinned_client" and len(pins) == len(groups)


def _age(moment: str | None, now: float) -> float:
    """ns since then; for ever since what has not happened."""
    there = reports.when(moment)
    if there is None:
        return float("inf")
    return (datetime.fromtimestamp(now, UTC) - parse_time(there)).total_seconds() * SECOND
