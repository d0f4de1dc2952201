"""Streams and consumers that fit certain criteria. Pure: infos in, infos out."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer.requests import is_pull
from jsctl.jetstream.state import required_level
from jsctl.nats.subjects import overlap
from jsctl.units import NEVER, age, seconds_to_ns

Tests = Mapping[str, Callable[[Json, Any, float], bool]]
"""By criterion: whether an info fits what is wanted, now (seconds since the epoch)."""

_COMMON: Tests = {
    "created": lambda info, least, now: _age(info.get("created"), now) >= least,
    "leader": lambda info, server, now: _cluster(info).get("leader") == server,
    "api_level": lambda info, level, now: required_level(info["config"]) >= level,
    "expression": lambda info, holds, now: bool(holds(_names(info))),
}
STREAMS: Tests = {
    **_COMMON,
    "server_name": lambda info, pattern, now: any(pattern.search(name) for name in _servers(info)),
    "cluster": lambda info, pattern, now: any(
        pattern.search(name) for name in [_cluster(info).get("name")] if name
    ),
    "empty": lambda info, _, now: not info["state"].get("messages"),
    "idle": lambda info, longer, now: _age(info["state"].get("last_ts"), now) > longer,
    "consumers": lambda info, most, now: int(info["state"].get("consumer_count", 0)) <= most,
    "replicas": lambda info, most, now: int(info["config"].get("num_replicas", 1)) <= most,
    "subject": lambda info, subject, now: any(
        overlap(have, subject) for have in info["config"].get("subjects") or []
    ),
    "sourced": lambda info, _, now: bool(info["config"].get("sources")),
    "mirrored": lambda info, _, now: bool(info["config"].get("mirror")),
}
CONSUMERS: Tests = {
    **_COMMON,
    "pull": lambda info, _, now: is_pull(info["config"]),
    "push": lambda info, _, now: not is_pull(info["config"]),
    "bound": lambda info, _, now: bool(info.get("push_bound") or info.get("num_waiting")),
    "waiting": lambda info, limit, now: int(info.get("num_waiting", 0)) < limit,
    "ack_pending": lambda info, limit, now: int(info.get("num_ack_pending", 0)) < limit,
    "pending": lambda info, limit, now: int(info.get("num_pending", 0)) < limit,
    "idle": lambda info, longer, now: _age((info.get("delivered") or {}).get("last_active"), now) > longer,
    # What it has, not what it was asked for: 0 there means as many as the stream.
    "replicas": lambda info, most, now: len(_cluster(info).get("replicas") or []) + 1 <= most,
    "pinned": lambda info, _, now: _pinned(info),
}


def find(
    infos: Iterable[Json], tests: Tests, wanted: Mapping[str, Any], now: float, *, invert: bool = False
) -> list[Json]:
    """Those infos that fit all that is wanted; with `invert`, the opposite of each.

    wanted: durations in ns, a compiled pattern for server_name and cluster, and for expression a test of
    `expression.compile_expression`, which may raise ValueError. now: seconds since the epoch.
    """
    return [
        info
        for info in infos
        if all(tests[name](info, value, now) != invert for name, value in wanted.items())
    ]


def _cluster(info: Json) -> Json:
    return info.get("cluster") or {}


def _servers(info: Json) -> list[str]:
    group = _cluster(info)
    return [
        str(name) for name in (group.get("leader"), *(p["name"] for p in group.get("replicas") or [])) if name
    ]


def _pinned(info: Json) -> bool:
    """Whether every priority group of a pinned consumer has its client."""
    groups = info["config"].get("priority_groups") or []
    pins = [group for group in info.get("priority_groups") or [] if group.get("pinned_client_id")]
    return info["config"].get("priority_policy") == "pinned_client" and len(pins) == len(groups)


def _age(moment: str | None, now: float) -> float:
    """ns since then; for ever since what has not happened."""
    span = age(moment, seconds_to_ns(now))
    return float("inf") if span == NEVER else span


def _names(info: Json) -> Json:
    """What an expression may ask for. A consumer's info is its state, too."""
    return {
        "config": info["config"],
        "state": info.get("state", info),
        "info": info,
        "Info": GoStruct(info),
    }


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
