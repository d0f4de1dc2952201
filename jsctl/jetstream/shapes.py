"""The shapes of JetStream's answers: the type of each field that jsctl reads.

Unknown fields are kept as they are (ADR-1; nats-server: jetstream_api.go, stream.go, consumer.go).
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from jsctl.jetstream.shape_check import BASE64, TIME, Fields, Malformed, Shape, check


def fields(kind: Any, names: str) -> Fields:
    """Return the fields of these names, separated by spaces, all of one shape."""
    return dict.fromkeys(names.split(), kind)


_TRANSFORM = Shape(fields(str, "src dest"))
_EXTERNAL = Shape(fields(str, "api deliver"))
_TEXTS = {"*": str}
_ERROR = Shape({"code": int, "err_code": int, "description": str})
SOURCE_INFO = Shape(
    {
        **fields(str, "name filter_subject"),
        **fields(int, "lag active"),
        "external": _EXTERNAL,
        "subject_transforms": [_TRANSFORM],
        "error": _ERROR,
    },
    ("name",),
)


class _ConfigShape(Shape):
    """The shape of a configuration, which its fields tell; they are imported when the first is checked."""

    __slots__ = ("_fields", "_noun")

    def __init__(self, noun: str, required: Iterable[str]) -> None:
        self._noun = noun
        self._fields: Fields | None = None
        self.required = frozenset(required)

    @property
    def fields(self) -> Fields:  # type: ignore[override]
        if self._fields is None:
            from jsctl.jetstream.config.schema import Object

            if self._noun == "stream":
                from jsctl.jetstream.config.stream_fields import FIELDS
            else:
                from jsctl.jetstream.config.consumer_fields import FIELDS
            self._fields = Object(FIELDS).shape.fields
        return self._fields


STREAM_CONFIG = _ConfigShape(
    "stream", ("name", "retention", "storage", "max_msgs", "max_bytes", "max_age", "num_replicas")
)
STATE = Shape(
    {
        **fields(int, "messages bytes first_seq last_seq consumer_count num_subjects num_deleted"),
        **fields(TIME, "first_ts last_ts"),
        "subjects": {"*": int},
        "deleted": [int],
        "lost": Shape({"msgs": [int], "bytes": int}),
    },
    ("messages", "bytes", "first_seq", "last_seq", "first_ts", "last_ts", "consumer_count"),
)
REPLICA = Shape(
    {**fields(str, "name peer"), **fields(bool, "current offline"), **fields(int, "active lag")}, ("name",)
)
CLUSTER = Shape(
    {
        **fields(str, "name leader raft_group traffic_account"),
        "leader_since": TIME,
        "replicas": [REPLICA],
    }
)
_PAGE = fields(int, "total offset limit")
_STREAM_INFO = Shape(
    {
        **_PAGE,
        "config": STREAM_CONFIG,
        "state": STATE,
        **fields(TIME, "created ts"),
        "cluster": CLUSTER,
        "mirror": SOURCE_INFO,
        "sources": [SOURCE_INFO],
        "alternates": [Shape(fields(str, "name cluster domain"))],
        "domain": str,
        "did_create": bool,
    },
    ("config", "state", "created"),
)
_CONSUMER_CONFIG = _ConfigShape("consumer", ("deliver_policy", "ack_policy", "replay_policy"))
_PLACE = Shape(
    {**fields(int, "consumer_seq stream_seq"), "last_active": TIME}, ("consumer_seq", "stream_seq")
)
_PINNED = Shape({**fields(str, "group pinned_client_id"), "pinned_ts": TIME})
CONSUMER_INFO = Shape(
    {
        **fields(str, "stream_name name"),
        **fields(TIME, "created ts"),
        "config": _CONSUMER_CONFIG,
        **fields(_PLACE, "delivered ack_floor"),
        **fields(int, "num_ack_pending num_redelivered num_waiting num_pending pause_remaining"),
        **fields(bool, "push_bound paused"),
        "cluster": CLUSTER,
        "priority_groups": [_PINNED],
    },
    (
        *("stream_name", "name", "created", "config", "delivered", "ack_floor"),
        *("num_ack_pending", "num_redelivered", "num_waiting", "num_pending"),
    ),
)
_LIMITS = Shape(
    {
        **fields(int, "max_memory max_storage max_streams max_consumers max_ack_pending"),
        **fields(int, "memory_max_stream_bytes storage_max_stream_bytes"),
        "max_bytes_required": bool,
    }
)
_TIER = Shape(
    {
        **fields(int, "memory storage reserved_memory reserved_storage streams consumers"),
        "limits": _LIMITS,
    }
)
API_USE = Shape(fields(int, "level total errors inflight"))
_ACCOUNT = Shape(
    {
        **_TIER.fields,
        "domain": str,
        "api": API_USE,
        "tiers": {"*": _TIER},
    },
    ("memory", "storage", "streams", "consumers", "limits", "api"),
)
_MESSAGE = Shape(
    {"subject": str, "seq": int, "hdrs": BASE64, "data": BASE64, "time": TIME}, ("subject", "seq", "time")
)
_OTHER = Shape(
    {
        **_PAGE,
        **fields(int, "purged seq count num_blks blk_size"),
        **fields(str, "stream domain batch val deliver_subject reply_subject"),
        **fields(bool, "success duplicate paused is_empty"),
        "pause_remaining": int,
        "pause_until": TIME,
    }
)


def _build_page(key: str, item: Any) -> Shape:
    return Shape({**_PAGE, key: [item], "missing": [str], "offline": _TEXTS})


_SHAPES: Mapping[str, Shape] = {
    "STREAM.INFO": _STREAM_INFO,
    "STREAM.CREATE": _STREAM_INFO,
    "STREAM.UPDATE": _STREAM_INFO,
    "STREAM.NAMES": _build_page("streams", str),
    "STREAM.LIST": _build_page("streams", _STREAM_INFO),
    "STREAM.SNAPSHOT": Shape({"config": STREAM_CONFIG, "state": STATE}, ("config", "state")),
    "STREAM.RESTORE": Shape({"deliver_subject": str}, ("deliver_subject",)),
    "STREAM.PURGE": Shape({"success": bool, "purged": int}),
    "STREAM.MSG.GET": Shape({"message": _MESSAGE}, ("message",)),
    "CONSUMER.INFO": CONSUMER_INFO,
    "CONSUMER.CREATE": CONSUMER_INFO,
    "CONSUMER.DURABLE.CREATE": CONSUMER_INFO,
    "CONSUMER.RESET": CONSUMER_INFO,
    "CONSUMER.NAMES": _build_page("consumers", str),
    "CONSUMER.LIST": _build_page("consumers", CONSUMER_INFO),
    "INFO": _ACCOUNT,
}


def check_answer(answer: Any, subject: str) -> None:
    """Raise Malformed, with the path of the wrong value, unless an answer on `subject` has the expected
    types."""
    check(answer, _find_shape(subject))


def check_error(error: Any) -> None:
    """Raise Malformed unless the `error` of an answer has the expected types."""
    try:
        check(error, _ERROR)
    except Malformed as fault:
        raise fault.within("error") from None


@lru_cache(256)
def _find_shape(subject: str) -> Shape:
    if subject in _SHAPES:
        return _SHAPES[subject]
    tokens = subject.split(".")
    for start in range(len(tokens) - 1):
        for end in (start + 2, start + 3):
            if shape := _SHAPES.get(".".join(tokens[start:end])):
                return shape
    return _ACCOUNT if subject.endswith("API.INFO") else _OTHER
