"""Streams that fit certain criteria. Pure: infos in, infos out."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from jsctl.jetstream import reports
from jsctl.jetstream.api import Json
from jsctl.jetstream.expression import compile_expression
from jsctl.jetstream.names import overlap
from jsctl.units import SECOND, parse_time

Test = Callable[[Json], bool]


@dataclass(frozen=True, slots=True)
class Criteria:
    """What is looked for; None, empty and False ask nothing.

    server_name, cluster: regular expressions. idle, created: ns. consumers, replicas: at most so many.
    invert: the opposite of each criterion.
    """

    server_name: str = ""
    cluster: str = ""
    empty: bool = False
    idle: int | None = None
    created: int | None = None
    consumers: int | None = None
    subject: str = ""
    replicas: int | None = None
    sourced: bool = False
    mirrored: bool = False
    leader: str = ""
    expression: str = ""
    api_level: int | None = None
    invert: bool = False


def find(infos: Iterable[Json], wanted: Criteria, now: float) -> list[Json]:
    """Those infos that fit. now: seconds since the epoch. Raises ValueError for what cannot be read."""
    tests = _tests(wanted, now)
    return [info for info in infos if all(test(info) != wanted.invert for test in tests)]


def _tests(wanted: Criteria, now: float) -> list[Test]:
    tests: list[Test] = []
    if wanted.server_name:
        server = _pattern(wanted.server_name)
        tests.append(lambda info: any(server.search(name) for name in _servers(info)))
    if wanted.cluster:
        cluster = _pattern(wanted.cluster)
        tests.append(
            lambda info: bool(cluster.search(str(_cluster(info).get("name") or "")) and _cluster(info))
        )
    if wanted.leader:
        tests.append(lambda info: _cluster(info).get("leader") == wanted.leader)
    if wanted.empty:
        tests.append(lambda info: not info["state"].get("messages"))
    if wanted.idle is not None:
        idle = wanted.idle
        tests.append(lambda info: _age(info["state"].get("last_ts"), now) > idle)
    if wanted.created is not None:
        created = wanted.created
        tests.append(lambda info: _age(info.get("created"), now) >= created)
    if wanted.consumers is not None:
        consumers = wanted.consumers
        tests.append(lambda info: int(info["state"].get("consumer_count", 0)) <= consumers)
    if wanted.replicas is not None:
        replicas = wanted.replicas
        tests.append(lambda info: int(info["config"].get("num_replicas", 1)) <= replicas)
    if wanted.subject:
        tests.append(
            lambda info: any(overlap(have, wanted.subject) for have in info["config"].get("subjects") or [])
        )
    if wanted.sourced:
        tests.append(lambda info: bool(info["config"].get("sources")))
    if wanted.mirrored:
        tests.append(lambda info: bool(info["config"].get("mirror")))
    if wanted.api_level is not None:
        level = wanted.api_level
        tests.append(lambda info: reports.needed_level(info["config"]) >= level)
    if wanted.expression:
        holds = compile_expression(wanted.expression)
        tests.append(
            lambda info: holds(
                {"config": info["config"], "state": info["state"], "info": info, "Info": GoStruct(info)}
            )
        )
    return tests


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is no regular expression: {error}") from None


def _cluster(info: Json) -> Json:
    return info.get("cluster") or {}


def _servers(info: Json) -> list[str]:
    group = _cluster(info)
    return [
        str(name) for name in (group.get("leader"), *(p["name"] for p in group.get("replicas") or [])) if name
    ]


def _age(moment: str | None, now: float) -> float:
    """ns since then; for ever since what has not happened."""
    there = reports.when(moment)
    if there is None:
        return float("inf")
    return (datetime.fromtimestamp(now, UTC) - parse_time(there)).total_seconds() * SECOND


class GoStruct(dict[str, Any]):
    """An info under the names that the fields have in Go: `Info.State.Msgs`."""

    def __init__(self, values: Json) -> None:
        super().__init__(
            {_plain(key): value if key in _FREE else _struct(value) for key, value in values.items()}
        )

    def get(self, key: Any, default: Any = None) -> Any:
        name = _GO.get(key, str(key).lower())
        if name == "replicas" and name not in self:
            name = "numreplicas"
        return super().get(name, default)


def _struct(value: Any) -> Any:
    if isinstance(value, dict):
        return GoStruct(value)
    return [_struct(item) for item in value] if isinstance(value, list) else value


def _plain(key: str) -> str:
    return key.replace("_", "").lower()


_FREE = frozenset({"metadata", "subjects"})  #: their keys are the user's own

#: Go fields whose JSON has another name (jsm.go: api/streams.go).
_GO = {
    "Msgs": "messages",
    "Consumers": "consumercount",
    "FirstTime": "firstts",
    "LastTime": "lastts",
    "MaxMsgsPer": "maxmsgspersubject",
    "Duplicates": "duplicatewindow",
    "RollupAllowed": "allowrolluphdrs",
    "Template": "templateowner",
    "TimeStamp": "ts",
}
