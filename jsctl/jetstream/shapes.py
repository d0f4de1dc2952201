"""What the answers of JetStream must look like: each field that jsctl reads has a shape.

Fields that are not known stay as they are (ADR-1; nats-server: jetstream_api.go, stream.go, consumer.go).
"""

import binascii
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from jsctl.units import parse_time_ns

_LARGEST = 1 << 64
_SMALLEST = -_LARGEST

Fields = dict[str, Any]
"""A field's shape by name: a type, `TIME` or `BASE64`, a Shape, a list of one shape, or a dict of `*` to the
shape of all values of an object."""

TIME, BASE64 = object(), object()


class Shape:
    """An object. required: fields that every server sends."""

    __slots__ = ("fields", "required")

    def __init__(self, fields: Fields, required: Iterable[str] = ()) -> None:
        self.fields = fields
        self.required = frozenset(required)


def _fields(kind: Any, names: str) -> Fields:
    return dict.fromkeys(names.split(), kind)


_TRANSFORM = Shape(_fields(str, "src dest"))
_EXTERNAL = Shape(_fields(str, "api deliver"))
_TEXTS = {"*": str}
_SOURCE = Shape(
    {
        **_fields(str, "name filter_subject domain"),
        "opt_start_seq": int,
        "opt_start_time": TIME,
        "external": _EXTERNAL,
        "subject_transforms": [_TRANSFORM],
    },
    ("name",),
)
_ERROR = Shape({"code": int, "err_code": int, "description": str})
_SOURCE_INFO = Shape(
    {**_SOURCE.fields, **_fields(int, "lag active"), "error": _ERROR},
    ("name",),
)
_STREAM_CONFIG = Shape(
    {
        **_fields(str, "name description retention storage discard compression persist_mode"),
        **_fields(int, "max_consumers max_msgs max_msgs_per_subject max_bytes max_age max_msg_size"),
        **_fields(int, "num_replicas duplicate_window first_seq subject_delete_marker_ttl"),
        **_fields(bool, "no_ack sealed deny_delete deny_purge allow_rollup_hdrs allow_direct mirror_direct"),
        **_fields(bool, "discard_new_per_subject allow_msg_ttl allow_msg_counter allow_atomic"),
        **_fields(bool, "allow_msg_schedules allow_batched"),
        "subjects": [str],
        "placement": Shape({"cluster": str, "tags": [str], "preferred": str}),
        "mirror": _SOURCE,
        "sources": [_SOURCE],
        "republish": Shape({**_fields(str, "src dest"), "headers_only": bool}),
        "subject_transform": _TRANSFORM,
        "consumer_limits": Shape(_fields(int, "inactive_threshold max_ack_pending")),
        "metadata": _TEXTS,
    },
    ("name", "retention", "storage", "max_msgs", "max_bytes", "max_age", "num_replicas"),
)
_STATE = Shape(
    {
        **_fields(int, "messages bytes first_seq last_seq consumer_count num_subjects num_deleted"),
        **_fields(TIME, "first_ts last_ts"),
        "subjects": {"*": int},
        "deleted": [int],
        "lost": Shape({"msgs": [int], "bytes": int}),
    },
    ("messages", "bytes", "first_seq", "last_seq", "first_ts", "last_ts", "consumer_count"),
)
_REPLICA = Shape(
    {**_fields(str, "name peer"), **_fields(bool, "current offline"), **_fields(int, "active lag")}, ("name",)
)
_CLUSTER = Shape(
    {
        **_fields(str, "name leader raft_group traffic_account"),
        "leader_since": TIME,
        "replicas": [_REPLICA],
    }
)
_PAGE = _fields(int, "total offset limit")
_STREAM_INFO = Shape(
    {
        **_PAGE,
        "config": _STREAM_CONFIG,
        "state": _STATE,
        **_fields(TIME, "created ts"),
        "cluster": _CLUSTER,
        "mirror": _SOURCE_INFO,
        "sources": [_SOURCE_INFO],
        "alternates": [Shape(_fields(str, "name cluster domain"))],
        "domain": str,
        "did_create": bool,
    },
    ("config", "state", "created"),
)
_CONSUMER_CONFIG = Shape(
    {
        **_fields(str, "name durable_name description deliver_policy ack_policy replay_policy sample_freq"),
        **_fields(str, "filter_subject deliver_subject deliver_group priority_policy"),
        **_fields(int, "opt_start_seq ack_wait max_deliver rate_limit_bps max_waiting max_ack_pending"),
        **_fields(int, "idle_heartbeat max_batch max_expires max_bytes inactive_threshold num_replicas"),
        "priority_timeout": int,
        **_fields(bool, "flow_control headers_only mem_storage direct"),
        **_fields(TIME, "opt_start_time pause_until"),
        "filter_subjects": [str],
        "priority_groups": [str],
        "backoff": [int],
        "metadata": _TEXTS,
    },
    ("deliver_policy", "ack_policy", "replay_policy"),
)
_PLACE = Shape(
    {**_fields(int, "consumer_seq stream_seq"), "last_active": TIME}, ("consumer_seq", "stream_seq")
)
_PINNED = Shape({**_fields(str, "group pinned_client_id"), "pinned_ts": TIME})
_CONSUMER_INFO = Shape(
    {
        **_fields(str, "stream_name name"),
        **_fields(TIME, "created ts"),
        "config": _CONSUMER_CONFIG,
        **_fields(_PLACE, "delivered ack_floor"),
        **_fields(int, "num_ack_pending num_redelivered num_waiting num_pending pause_remaining"),
        **_fields(bool, "push_bound paused"),
        "cluster": _CLUSTER,
        "priority_groups": [_PINNED],
    },
    (
        *("stream_name", "name", "created", "config", "delivered", "ack_floor"),
        *("num_ack_pending", "num_redelivered", "num_waiting", "num_pending"),
    ),
)
_LIMITS = Shape(
    {
        **_fields(int, "max_memory max_storage max_streams max_consumers max_ack_pending"),
        **_fields(int, "memory_max_stream_bytes storage_max_stream_bytes"),
        "max_bytes_required": bool,
    }
)
_TIER = Shape(
    {
        **_fields(int, "memory storage reserved_memory reserved_storage streams consumers"),
        "limits": _LIMITS,
    }
)
_ACCOUNT = Shape(
    {
        **_TIER.fields,
        "domain": str,
        "api": Shape(_fields(int, "level total errors inflight")),
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
        **_fields(int, "purged seq count num_blks blk_size"),
        **_fields(str, "stream domain batch val deliver_subject reply_subject"),
        **_fields(bool, "success duplicate paused is_empty"),
        "pause_remaining": int,
        "pause_until": TIME,
    }
)


_SERVER = Shape(
    {
        **_fields(str, "name host id cluster domain ver"),
        "jetstream": bool,
        "flags": int,
        "seq": int,
        "time": TIME,
        "tags": [str],
    },
    ("name", "id"),
)
_STATSZ = Shape(
    {
        "start": TIME,
        **_fields(
            int, "mem cores connections total_connections active_accounts subscriptions slow_consumers"
        ),
        "routes": [Shape({**_fields(int, "rid pending"), "name": str})],
        "gateways": [Shape({**_fields(int, "gwid inbound_connections"), "name": str})],
    }
)
_PEER = Shape(
    {**_fields(str, "name peer"), **_fields(bool, "current offline"), **_fields(int, "active lag")}, ("name",)
)
_META = Shape(
    {**_fields(str, "name leader peer"), **_fields(int, "cluster_size pending"), "replicas": [_PEER]}
)
_JSZ = Shape(
    {
        **_fields(int, "streams consumers messages bytes memory storage reserved_memory reserved_storage"),
        "api": Shape(_fields(int, "level total errors inflight")),
        "meta_cluster": _META,
        "config": Shape({**_fields(int, "max_memory max_storage"), **_fields(str, "domain store_dir")}),
        "now": TIME,
        "disabled": bool,
    }
)


def _page(key: str, item: Any) -> Shape:
    return Shape({**_PAGE, key: [item], "missing": [str], "offline": _TEXTS})


_SHAPES: Mapping[str, Shape] = {
    "STREAM.INFO": _STREAM_INFO,
    "STREAM.CREATE": _STREAM_INFO,
    "STREAM.UPDATE": _STREAM_INFO,
    "STREAM.NAMES": _page("streams", str),
    "STREAM.LIST": _page("streams", _STREAM_INFO),
    "STREAM.SNAPSHOT": Shape({"config": _STREAM_CONFIG, "state": _STATE}, ("config", "state")),
    "STREAM.RESTORE": Shape({"deliver_subject": str}, ("deliver_subject",)),
    "STREAM.PURGE": Shape({"success": bool, "purged": int}),
    "STREAM.MSG.GET": Shape({"message": _MESSAGE}, ("message",)),
    "CONSUMER.INFO": _CONSUMER_INFO,
    "CONSUMER.CREATE": _CONSUMER_INFO,
    "CONSUMER.DURABLE.CREATE": _CONSUMER_INFO,
    "CONSUMER.RESET": _CONSUMER_INFO,
    "CONSUMER.NAMES": _page("consumers", str),
    "CONSUMER.LIST": _page("consumers", _CONSUMER_INFO),
    "INFO": _ACCOUNT,
    "$SYS.REQ.SERVER.PING": Shape({"server": _SERVER, "statsz": _STATSZ}, ("server",)),
    "$SYS.REQ.SERVER.PING.JSZ": Shape({"server": _SERVER, "data": _JSZ}, ("server",)),
}
_VERB = (
    r"(?:^|\.)((?:STREAM|CONSUMER)\."
    r"(?:INFO|CREATE|UPDATE|NAMES|LIST|SNAPSHOT|RESTORE|PURGE|RESET|MSG\.GET|DURABLE\.CREATE))(?:\.|$)"
)


class Malformed(ValueError):
    """An answer that no server gives. place: where in the answer, outermost name first; empty for all."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.place = ""

    def __str__(self) -> str:
        return f"{self.place or 'it'} {super().__str__()}"

    def within(self, name: str) -> "Malformed":
        """Add the name or number of what holds this place."""
        dot = "" if self.place[:1] in ("", "[") else "."
        self.place = name[:40] + dot + self.place
        return self


def check_answer(answer: Any, subject: str) -> None:
    """Raise Malformed, with the place in it, unless an answer on `subject` looks as it must."""
    _check(answer, _shape_of(subject))


def check_error(error: Any) -> None:
    """As `check_answer`, for the `error` of one."""
    try:
        _check(error, _ERROR)
    except Malformed as fault:
        raise fault.within("error") from None


@lru_cache(256)
def _shape_of(subject: str) -> Shape:
    if subject in _SHAPES:
        return _SHAPES[subject]
    if match := re.search(_VERB, subject):
        return _SHAPES[match[1]]
    return _ACCOUNT if subject.endswith("API.INFO") else _OTHER


def _check(value: Any, shape: Any) -> None:
    if isinstance(shape, Shape):
        _check_object(value, shape)
    elif isinstance(shape, list):
        if type(value) is not list:
            raise Malformed("is not a list")
        _check_items(enumerate(value), shape[0], "[{}]")
    elif isinstance(shape, dict):
        if type(value) is not dict:
            raise Malformed("is not an object")
        _check_items(value.items(), shape["*"], "{}")
    else:
        _check_scalar(value, shape)


def _check_object(value: Any, shape: Shape) -> None:
    if type(value) is not dict:
        raise Malformed("is not an object")
    required, expected_of = shape.required, shape.fields.get
    if not required <= value.keys():
        raise Malformed("is missing").within(min(required - value.keys()))
    least, most = _SMALLEST, _LARGEST
    for name, item in value.items():
        expected = expected_of(name)
        # Lists hold thousands of objects, and most of their fields are numbers, texts and switches.
        if type(item) is expected:
            if expected is not int or least < item < most:
                continue
        elif expected is None or (expected is TIME and _is_servers_time(item)):
            continue
        elif item is None:
            if name in required:
                raise Malformed("is missing").within(name)
            if not isinstance(expected, type):
                continue
        try:
            if type(expected) is Shape:
                _check_object(item, expected)
            else:
                _check(item, expected)
        except Malformed as fault:
            raise fault.within(name) from None


def _check_items(items: Iterable[tuple[Any, Any]], shape: Any, place: str) -> None:
    check = _check_object if isinstance(shape, Shape) else _check
    for name, item in items:
        if type(item) is shape and shape is not int:
            continue
        try:
            check(item, shape)
        except Malformed as fault:
            raise fault.within(place.format(name)) from None


def _check_scalar(value: Any, kind: Any) -> None:
    if kind is TIME:
        try:
            parse_time_ns(value)
        except (ValueError, TypeError, AttributeError, OverflowError):
            raise Malformed("is not a time") from None
    elif kind is BASE64:
        try:
            binascii.a2b_base64(value, strict_mode=True) if value else b""
        except (ValueError, TypeError):
            raise Malformed("is not base64") from None
    elif type(value) is not kind or (kind is int and not _SMALLEST < value < _LARGEST):
        what = {int: "a number", str: "a text", bool: "true or false"}[kind]
        raise Malformed(f"is not {what}")


def _is_servers_time(text: Any) -> bool:
    """Whether a text is a time as servers write it, `2026-11-21T06:57:05.123456789Z`: all that
    `parse_time_ns` takes of this form, in a tenth of its time."""
    try:
        if len(text) > 30 or text[19] not in ".Z" or text[-1] != "Z":
            return False
        datetime.fromisoformat(text)
    except (ValueError, TypeError, LookupError):
        return False
    return True
