"""Criteria for finding streams and consumers: pure functions of their infos."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from jsctl.base.units import NEVER, compute_age, seconds_to_ns
from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer.requests import is_pull
from jsctl.jetstream.state import find_required_level, list_peers
from jsctl.nats.subjects import covers, overlaps

Test = Callable[[Json, Any, float], bool]
"""A test whether an info meets a criterion. Called with the info, the criterion's value, and the time in
seconds since the epoch."""

_COMMON: Mapping[str, Test] = {
    "created": lambda info, least, now: _compute_age(info.get("created"), now) >= least,
    "leader": lambda info, server, now: _get_cluster(info).get("leader") == server,
    "api_level": lambda info, level, now: find_required_level(info["config"]) >= level,
    "expression": lambda info, condition, now: bool(condition(_build_names(info))),
}
_STREAM_TESTS: Mapping[str, Test] = {
    **_COMMON,
    "server_name": lambda info, pattern, now: any(pattern.search(name) for name in list_peers(info)),
    "cluster": lambda info, pattern, now: any(
        pattern.search(name) for name in [_get_cluster(info).get("name")] if name
    ),
    "empty": lambda info, _, now: not info["state"].get("messages"),
    "idle": lambda info, longer, now: _compute_age(info["state"].get("last_ts"), now) > longer,
    "consumers": lambda info, limit, now: int(info["state"].get("consumer_count", 0)) <= limit,
    "replicas": lambda info, limit, now: int(info["config"].get("num_replicas", 1)) <= limit,
    "subject": lambda info, subject, now: any(
        overlaps(have, subject) for have in info["config"].get("subjects") or []
    ),
    "sourced": lambda info, _, now: bool(info["config"].get("sources")),
    "mirrored": lambda info, _, now: bool(info["config"].get("mirror")),
}
_NATS_STREAM_TESTS: Mapping[str, Test] = {
    **_STREAM_TESTS,
    "subject": lambda info, subject, now: any(
        covers(subject, have) for have in info["config"].get("subjects") or []
    ),
}
_CONSUMER_TESTS: Mapping[str, Test] = {
    **_COMMON,
    "pull": lambda info, _, now: is_pull(info["config"]),
    "push": lambda info, _, now: not is_pull(info["config"]),
    "bound": lambda info, _, now: bool(info.get("push_bound") or info.get("num_waiting")),
    "waiting": lambda info, limit, now: int(info.get("num_waiting", 0)) < limit,
    "ack_pending": lambda info, limit, now: int(info.get("num_ack_pending", 0)) < limit,
    "pending": lambda info, limit, now: int(info.get("num_pending", 0)) < limit,
    "idle": lambda info, longer, now: (
        _compute_age((info.get("delivered") or {}).get("last_active"), now) > longer
    ),
    # The actual number: 0 in the configuration means as many as the stream has.
    "replicas": lambda info, limit, now: len(_get_cluster(info).get("replicas") or []) + 1 <= limit,
    "pinned": lambda info, _, now: _is_pinned(info),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Criteria:
    """Criteria that streams and consumers share; None and an empty text mean any. Durations are in ns.

    expression: a condition from `expression.compile_expression`, which may raise ValueError.
    invert: require the opposite of each criterion.
    """

    created: int | None = None  #: created at least this long ago
    replicas: int | None = None  #: at most
    leader: str | None = None
    api_level: int | None = None  #: needed at least
    expression: Callable[[Mapping[str, Any]], bool] | None = None
    invert: bool = False

    tests = _COMMON
    """The tests of all criteria, by field."""

    def filter_infos(self, infos: Iterable[Json], now: float) -> list[Json]:
        """Return the infos that meet all criteria. now: seconds since the epoch.

        Raises ValueError for an expression that does not fit the infos.
        """
        tests = [
            (test, value)
            for name, test in self.tests.items()
            if (value := getattr(self, name)) not in (None, "") and value is not False
        ]
        return [info for info in infos if all(test(info, value, now) != self.invert for test, value in tests)]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamCriteria(Criteria):
    """Criteria of `stream find`."""

    server_name: re.Pattern[str] | None = None  #: of a server with a replica
    cluster: re.Pattern[str] | None = None
    empty: bool = False
    idle: int | None = None  #: no new message for longer than this, in ns
    consumers: int | None = None  #: at most
    subject: str | None = None  #: a filter that overlaps with one of the stream's subjects
    sourced: bool = False
    mirrored: bool = False

    tests = _STREAM_TESTS


@dataclass(frozen=True, slots=True, kw_only=True)
class NatsStreamCriteria(StreamCriteria):
    """As `nats` has them: one of the stream's subjects lies within `subject`."""

    tests = _NATS_STREAM_TESTS


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerCriteria(Criteria):
    """Criteria of `consumer find`."""

    pull: bool = False
    push: bool = False
    bound: bool = False  #: with interest, or with waiting pulls
    waiting: int | None = None  #: fewer waiting pulls
    ack_pending: int | None = None  #: fewer
    pending: int | None = None  #: fewer
    idle: int | None = None  #: no delivery for longer than this, in ns
    pinned: bool = False  #: every priority group has a pinned client

    tests = _CONSUMER_TESTS


def _get_cluster(info: Json) -> Json:
    return info.get("cluster") or {}


def _is_pinned(info: Json) -> bool:
    """Return whether every priority group of a consumer has a pinned client."""
    groups = info["config"].get("priority_groups") or []
    pins = [group for group in info.get("priority_groups") or [] if group.get("pinned_client_id")]
    return info["config"].get("priority_policy") == "pinned_client" and len(pins) == len(groups)


def _compute_age(moment: str | None, now: float) -> float:
    """Return the age of a time in ns; infinite if the event has never happened."""
    span = compute_age(moment, seconds_to_ns(now))
    return float("inf") if span == NEVER else span


def _build_names(info: Json) -> Json:
    """Return the values of the names that an expression may use. A consumer's state is its whole info."""
    return {
        "config": info["config"],
        "state": info.get("state", info),
        "info": info,
        "Info": GoFields(info),
    }


class GoFields(dict[str, Any]):
    """An info under the names that the fields have in Go: `Info.State.Msgs`."""

    def __init__(self, values: Json) -> None:
        super().__init__(
            {
                _normalize_key(key): value if key in _USER_KEYED else _to_go_fields(value)
                for key, value in values.items()
            }
        )

    def get(self, key: Any, default: Any = None) -> Any:
        """Return a value by its Go name, such as `Msgs`."""
        name = _GO_NAMES.get(key, str(key).lower())
        if name == "replicas" and name not in self:
            name = "numreplicas"
        return super().get(name, default)


def _to_go_fields(value: Any) -> Any:
    if isinstance(value, dict):
        return GoFields(value)
    return [_to_go_fields(item) for item in value] if isinstance(value, list) else value


def _normalize_key(key: str) -> str:
    """Return the form that a JSON key and its Go field share: `numreplicas` for `num_replicas`."""
    return key.replace("_", "").lower()


_USER_KEYED = frozenset({"metadata", "subjects"})  #: fields whose keys users choose

#: Go fields whose JSON has another name (jsm.go: api/streams.go).
_GO_NAMES = {
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
