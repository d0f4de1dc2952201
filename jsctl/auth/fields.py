"""The fields of account and user claims, from which flags, questions and info pages are built
(nats-io/jwt: v2/account_claims.go, v2/user_claims.go, v2/types.go)."""

import ipaddress
import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from jsctl.jetstream.config.field import Field, FieldQuestion
from jsctl.jetstream.config.kind import Kind, Text
from jsctl.jetstream.config.kinds import Choice, ListOf, Subject, Subjects, Switch, Texts
from jsctl.jetstream.config.numbers import Duration, Number, Size
from jsctl.jetstream.config.schema import Schema

UNLIMITED = -1


class Cap(Number):
    """A maximum number; -1 is unlimited, 0 allows none."""

    shown_as = "text"

    def __init__(self) -> None:
        super().__init__(least=None)

    def parse(self, text: str) -> int:
        number = super().parse(text)
        if number < UNLIMITED:
            raise ValueError(f"{text!r} is negative; -1 is unlimited")
        return number


class CapBytes(Size):
    """A maximum number of bytes; -1 is unlimited, 0 allows none."""

    shown_as = "text"


class Rules(Subjects):
    """Subjects that are allowed or denied."""

    metavar = "SUBJECT"


class Networks(Texts):
    """Networks in CIDR notation."""

    metavar = "CIDR"
    takes = "a list of networks such as 10.0.0.0/8"

    def parse(self, text: str) -> list[str]:
        networks = super().parse(text)
        for network in networks:
            try:
                if "/" not in network:
                    raise ValueError
                ipaddress.ip_network(network, strict=False)
            except ValueError:
                raise ValueError(f"{network!r} is not a network such as 10.0.0.0/8") from None
        return networks


class Hours(ListOf):
    """Times of the day between which a user may connect."""

    takes = "times of the day such as 08:00:00-17:30:00"

    def __init__(self) -> None:
        super().__init__(Text())
        self.metavar = "START-END"

    def parse(self, text: str) -> list[Any]:
        start, dash, end = text.partition("-")
        if not dash:
            raise ValueError(f"{text!r} is not a time such as 08:00:00-17:30:00")
        return [{"start": _parse_time_of_day(start), "end": _parse_time_of_day(end)}]

    def collect(self, values: Sequence[Any], before: Any) -> list[Any]:
        return [span for value in values if value for span in self.parse(value)]


def _parse_time_of_day(text: str) -> str:
    match = re.fullmatch(r"\s*(\d\d?):(\d\d)(?::(\d\d))?\s*", text)
    if match:
        hour, minute, second = (int(part or 0) for part in match.groups())
        if hour < 24 and minute < 60 and second < 60:
            return f"{hour:02}:{minute:02}:{second:02}"
    raise ValueError(f"{text.strip()!r} is not a time such as 08:00:00")


class Words(Texts):
    """A list of words, each of which may be spelled in several ways. words: accepted spelling -> what is
    stored."""

    metavar = "KIND"

    def __init__(self, words: dict[str, str]) -> None:
        self._words = {**words, **{stored.lower(): stored for stored in words.values()}}
        self.takes = f"of {', '.join(words)}"

    def parse(self, text: str) -> list[str]:
        texts = super().parse(text)
        for word in texts:
            if word.lower() not in self._words:
                raise ValueError(f"{word!r} is not one {self.takes}")
        return [self._words[word.lower()] for word in texts]


class Zone(Text):
    """A time zone."""

    def parse(self, text: str) -> str:
        from zoneinfo import ZoneInfo

        try:
            if text:
                ZoneInfo(text)
        except (ValueError, OSError, KeyError):
            raise ValueError(f"{text!r} is not a time zone such as Europe/Berlin") from None
        return text


CONNECTION_TYPES = {
    "nats": "STANDARD",
    "ws": "WEBSOCKET",
    "leaf": "LEAFNODE",
    "wsleaf": "LEAFNODE_WS",
    "mqtt": "MQTT",
    "wsmqtt": "MQTT_WS",
    "in-process": "IN_PROCESS",
}


def _build_permission_fields(key: str, flag: str, whose: str, label: str) -> list[Field]:
    """Return the fields below `key` that permit publishing and subscribing. flag: the prefix of their
    flags."""
    actions = (("pub", "Publish", "publish to"), ("sub", "Subscribe", "subscribe to"))
    return [
        Field(
            f"{key}{action}.{rule}",
            Rules(),
            f"{flag}{action}-{rule}",
            f"{rule.capitalize()} {whose} {verb} these subjects; empty removes them",
            f"{label}{title} {rule.capitalize()}",
        )
        for action, title, verb in actions
        for rule in ("allow", "deny")
    ]


def _build_reply_fields(key: str, flag: str, label: str) -> list[Field]:
    """Return the fields below `key` that permit replies."""
    return [
        Field(
            f"{key}resp.max",
            Cap(),
            f"{flag}allow-pub-response",
            "Allow N replies to each request, wherever they go; -1 for any number",
            f"{label}Replies to a Request",
        ),
        Field(
            f"{key}resp.ttl",
            Duration(),
            f"{flag}response-ttl",
            "How long replies are allowed after a request",
            f"{label}Reply within",
        ),
    ]


def _build_limit(kind: Kind, key: str, flag: str, help: str, label: str, ask: str = "") -> Field:
    question = FieldQuestion(ask, note="(-1 for unlimited)") if ask else None
    return Field(f"limits.{key}", kind, flag, f"{help}; -1 for unlimited", label, question=question)


_build_cap_field = partial(_build_limit, Cap())
_build_bytes_field = partial(_build_limit, CapBytes())


JETSTREAM_LIMITS = (
    _build_cap_field(
        "max_ack_pending", "js-max-pending", "Unacknowledged messages of a consumer", "Max Ack Pending"
    ),
    _build_cap_field("streams", "js-streams", "Streams of the account", "Maximum Streams"),
    _build_cap_field("consumer", "js-consumers", "Consumers of a stream", "Max Consumers Per Stream"),
    Field(
        "limits.max_bytes_required",
        Switch(),
        "js-stream-size-required",
        "Require a maximum size of every stream",
        "Max Stream Size Required",
        default=False,
    ),
    _build_bytes_field(
        "disk_storage", "js-disk", "File storage of all streams", "Max File Storage", "File storage"
    ),
    _build_bytes_field(
        "disk_max_stream_bytes", "js-disk-stream", "File storage of a stream", "Max File Stream Size"
    ),
    _build_bytes_field(
        "mem_storage",
        "js-memory",
        "Memory storage of all streams",
        "Max Memory Storage",
        "Memory storage",
    ),
    _build_bytes_field(
        "mem_max_stream_bytes", "js-memory-stream", "Memory storage of a stream", "Max Memory Stream Size"
    ),
)
"""The JetStream limits of an account or of a tier."""

ACCOUNT_LIMITS = (
    Field(
        "limits.disallow_bearer",
        Switch(inverse_flag=True, inverse_label=True),
        "bearer",
        "Allow bearer tokens: users without a key",
        "Bearer Tokens Allowed",
        default=False,
    ),
    _build_cap_field(
        "subs", "subscriptions", "Subscriptions of the account", "Subscriptions", "Subscriptions"
    ),
    _build_cap_field("conn", "connections", "Client connections", "Connections", "Client connections"),
    _build_bytes_field("payload", "payload", "Bytes of a message", "Maximum Payload", "Bytes of a message"),
    _build_bytes_field("data", "data", "Bytes that the account may use", "Data"),
    _build_cap_field("leaf", "leafnodes", "Leaf node connections", "Leafnodes"),
    _build_cap_field("imports", "imports", "Imports", "Imports"),
    _build_cap_field("exports", "exports", "Exports", "Exports"),
    Field(
        "limits.wildcards",
        Switch(),
        "wildcard-exports",
        "Allow exports of subjects with wildcards",
        "Wildcard Exports Allowed",
        default=False,
    ),
)

ACCOUNT = Schema(
    "account",
    [
        *ACCOUNT_LIMITS,
        *JETSTREAM_LIMITS,
        Field(
            "cluster_traffic",
            Choice({"owner": "owner", "system": "system"}),
            "js-cluster-traffic",
            "Account that carries the replication traffic of its streams",
            "Cluster Traffic",
            default="system",
        ),
        Field("description", Text(), "description", "Description of the account", "Description"),
        Field("info_url", Text(), "info-url", "Where to read more about the account", "Info"),
        *_build_permission_fields(
            "default_permissions.", "default-", "users without permissions of their own to", "Default "
        ),
        *_build_reply_fields("default_permissions.", "default-", "Default "),
        Field(
            "trace.dest",
            Subject(publish=True),
            "trace-context",
            "Publish traces of messages with a trace context to this subject; empty turns that off",
            "Trace Context",
        ),
        Field(
            "trace.sampling",
            Number(1),
            "trace-sampling",
            "Percentage of these messages that are traced",
            "Trace Sampling",
        ),
    ],
)
"""The fields below `nats` of an account's claims."""

USER = Schema(
    "user",
    [
        Field(
            "bearer_token",
            Switch(),
            "bearer",
            "Let the user log in without its key; the JWT is enough",
            "Bearer Token",
            default=False,
        ),
        Field(
            "payload",
            CapBytes(),
            "payload",
            "Bytes of a message; -1 for unlimited",
            "Max Payload",
            question=FieldQuestion("Bytes of a message", note="(-1 for unlimited)"),
        ),
        Field("data", CapBytes(), "data", "Bytes that the user may send; -1 for unlimited", "Max Data"),
        Field(
            "subs",
            Cap(),
            "subscriptions",
            "Subscriptions; -1 for unlimited",
            "Max Subscriptions",
            question=FieldQuestion("Subscriptions", note="(-1 for unlimited)"),
        ),
        *_build_permission_fields("", "", "to", ""),
        *_build_reply_fields("", "", ""),
        Field(
            "src",
            Networks(),
            "source-network",
            "Networks from which the user may connect, such as 10.0.0.0/8; empty removes them",
            "Connection Sources",
        ),
        Field(
            "times",
            Hours(),
            "time",
            "When the user may be connected, such as 08:00:00-17:30:00; may be repeated",
            "Connection Times",
        ),
        Field("times_location", Zone(), "locale", "Time zone of --time, such as Europe/Berlin", "Locale"),
        Field(
            "allowed_connection_types",
            Words(CONNECTION_TYPES),
            "connection",
            f"Kinds of connections that are allowed: {', '.join(CONNECTION_TYPES)}; empty allows all",
            "Connection Types",
        ),
        Field(
            "proxy_required",
            Switch(),
            "proxy-required",
            "Let the user connect only through a trusted proxy",
            "Proxy Required",
        ),
    ],
)
"""The fields below `nats` of a user's claims and in the template of a scope."""
