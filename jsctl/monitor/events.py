"""Advisories and metrics, the events that servers publish: their kinds, fields and subjects.

Kinds and fields: nats-server's events.go and jetstream_events.go; subjects: ADR-2 and `$JS.EVENT`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from jsctl.base.json_text import parse_json
from jsctl.jetstream.api import Json

SYSTEM = ("$SYS.ACCOUNT.*.CONNECT", "$SYS.ACCOUNT.*.DISCONNECT", "$SYS.SERVER.*.CLIENT.AUTH.ERR")
"""Subjects that only the system account's users get."""

_JETSTREAM = "io.nats.jetstream."


class Kind(NamedTuple):
    """A kind of event. title: what happened. summary: the same on one line, with fields in braces. fields:
    the label and path of each field that is shown.
    """

    title: str
    summary: str
    fields: Sequence[tuple[str, str]] = ()


_STREAM = ("Stream", "stream")
_CONSUMER = ("Consumer", "consumer")
_SEQUENCE = ("Stream Sequence", "stream_seq")
_POSITION = (("Consumer Sequence", "consumer_seq"), _SEQUENCE, ("Deliveries", "deliveries"))
_CLIENT = (
    ("User", "client.user"),
    ("Account", "client.acc"),
    ("Name", "client.name"),
    ("Host", "client.host"),
    ("Client ID", "client.id"),
    ("Library", "client.lang"),
    ("Version", "client.ver"),
    ("Kind", "client.kind"),
    ("Server", "server.name"),
    ("Cluster", "server.cluster"),
)
_TRAFFIC = (
    ("Reason", "reason"),
    ("Messages Sent", "sent.msgs"),
    ("Bytes Sent", "sent.bytes"),
    ("Messages Received", "received.msgs"),
    ("Bytes Received", "received.bytes"),
    ("RTT", "client.rtt"),
)

KINDS = {
    "io.nats.jetstream.advisory.v1.api_audit": Kind(
        "JetStream API Access",
        "{subject}",
        (
            ("Server", "server"),
            ("Subject", "subject"),
            ("User", "client.user"),
            ("Account", "client.acc"),
            ("Request", "request"),
            ("Response", "response"),
        ),
    ),
    "io.nats.jetstream.advisory.v1.api_limit_reached": Kind(
        "JetStream API Queue Full",
        "{server} dropped {dropped} requests",
        (("Server", "server"), ("Dropped", "dropped")),
    ),
    "io.nats.jetstream.advisory.v1.stream_action": Kind(
        "Stream Action", "stream {stream} {action}", (_STREAM, ("Action", "action"))
    ),
    "io.nats.jetstream.advisory.v1.consumer_action": Kind(
        "Consumer Action",
        "consumer {stream} > {consumer} {action}",
        (_STREAM, _CONSUMER, ("Action", "action")),
    ),
    "io.nats.jetstream.advisory.v1.consumer_pause": Kind(
        "Consumer Pause",
        "consumer {stream} > {consumer} paused: {paused}",
        (_STREAM, _CONSUMER, ("Paused", "paused"), ("Until", "pause_until")),
    ),
    "io.nats.jetstream.advisory.v1.consumer_group_pinned": Kind(
        "Consumer Group Pinned",
        "consumer {stream} > {consumer} group {group} pinned to {pinned_id}",
        (_STREAM, _CONSUMER, ("Group", "group"), ("Pinned Client", "pinned_id")),
    ),
    "io.nats.jetstream.advisory.v1.consumer_group_unpinned": Kind(
        "Consumer Group Unpinned",
        "consumer {stream} > {consumer} group {group} unpinned: {reason}",
        (_STREAM, _CONSUMER, ("Group", "group"), ("Reason", "reason")),
    ),
    "io.nats.jetstream.advisory.v1.max_deliver": Kind(
        "Delivery Attempts Exceeded",
        "{stream} > {consumer} message {stream_seq} after {deliveries} deliveries",
        (_STREAM, _CONSUMER, _SEQUENCE, ("Deliveries", "deliveries")),
    ),
    "io.nats.jetstream.advisory.v1.nak": Kind(
        "Message Refused",
        "{stream} > {consumer} message {stream_seq}, deliveries: {deliveries}",
        (_STREAM, _CONSUMER, *_POSITION),
    ),
    "io.nats.jetstream.advisory.v1.terminated": Kind(
        "Message Terminated",
        "{stream} > {consumer} message {stream_seq}, deliveries: {deliveries}",
        (_STREAM, _CONSUMER, *_POSITION, ("Reason", "reason")),
    ),
    "io.nats.jetstream.advisory.v1.snapshot_create": Kind(
        "Stream Snapshot Started", "stream {stream}", (_STREAM, ("Client", "client.user"))
    ),
    "io.nats.jetstream.advisory.v1.snapshot_complete": Kind(
        "Stream Snapshot Completed", "stream {stream}", (_STREAM, ("Start", "start"), ("End", "end"))
    ),
    "io.nats.jetstream.advisory.v1.restore_create": Kind(
        "Stream Restore Started", "stream {stream}", (_STREAM, ("Client", "client.user"))
    ),
    "io.nats.jetstream.advisory.v1.restore_complete": Kind(
        "Stream Restore Completed",
        "stream {stream}, {bytes} bytes",
        (_STREAM, ("Start", "start"), ("End", "end"), ("Bytes", "bytes")),
    ),
    "io.nats.jetstream.advisory.v1.stream_batch_abandoned": Kind(
        "Batch Abandoned",
        "stream {stream} batch {batch}: {reason}",
        (_STREAM, ("Batch", "batch"), ("Reason", "reason")),
    ),
    "io.nats.jetstream.advisory.v1.stream_leader_elected": Kind(
        "Stream Leader Elected",
        "stream {stream}: {leader}",
        (_STREAM, ("Leader", "leader"), ("Replicas", "replicas")),
    ),
    "io.nats.jetstream.advisory.v1.stream_quorum_lost": Kind(
        "Stream Quorum Lost", "stream {stream}", (_STREAM, ("Replicas", "replicas"))
    ),
    "io.nats.jetstream.advisory.v1.consumer_leader_elected": Kind(
        "Consumer Leader Elected",
        "consumer {stream} > {consumer}: {leader}",
        (_STREAM, _CONSUMER, ("Leader", "leader"), ("Replicas", "replicas")),
    ),
    "io.nats.jetstream.advisory.v1.consumer_quorum_lost": Kind(
        "Consumer Quorum Lost",
        "consumer {stream} > {consumer}",
        (_STREAM, _CONSUMER, ("Replicas", "replicas")),
    ),
    "io.nats.jetstream.advisory.v1.domain_leader_elected": Kind(
        "Meta Leader Elected",
        "{leader}",
        (("Leader", "leader"), ("Cluster", "cluster"), ("Replicas", "replicas")),
    ),
    "io.nats.jetstream.advisory.v1.server_out_of_space": Kind(
        "Server Out Of Space", "{server}", (("Server", "server"), _STREAM, ("Cluster", "cluster"))
    ),
    "io.nats.jetstream.advisory.v1.server_removed": Kind(
        "Server Removed", "{server}", (("Server", "server"), ("Cluster", "cluster"))
    ),
    "io.nats.jetstream.metric.v1.consumer_ack": Kind(
        "Consumer Acknowledgement",
        "{stream} > {consumer} message {stream_seq} acknowledged after {ack_time}, deliveries: {deliveries}",
        (_STREAM, _CONSUMER, *_POSITION, ("Delay", "ack_time")),
    ),
    "io.nats.server.advisory.v1.client_connect": Kind(
        "Client Connection", "{client.user} {client.name} to {server.name}", _CLIENT
    ),
    "io.nats.server.advisory.v1.client_disconnect": Kind(
        "Client Disconnection",
        "{client.user} {client.name} from {server.name}: {reason}",
        (*_CLIENT, *_TRAFFIC),
    ),
    "io.nats.server.advisory.v1.account_connections": Kind(
        "Account Connections",
        "account {acc}: {conns}",
        (
            ("Account", "acc"),
            ("Connections", "conns"),
            ("Leaf Nodes", "leafnodes"),
            ("Server", "server.name"),
        ),
    ),
    "io.nats.server.metric.v1.service_latency": Kind(
        "Service Latency",
        "{service} of {responder.acc} in {total}",
        (("Service", "service"), ("Responder", "responder.acc"), ("Total", "total"), ("Status", "status")),
    ),
}

DURATIONS = frozenset({"ack_time", "client.rtt", "total"})
"""Paths that hold ns."""


def get_value(event: Json, path: str) -> Any:
    """Return the value at a dotted path; None if there is none."""
    value: Any = event
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def parse(data: bytes) -> Json | None:
    """Parse an event; return None for a payload that is not a JSON object."""
    try:
        event = parse_json(data)
    except ValueError:
        return None
    return event if isinstance(event, dict) else None


def find_kind(event: Json, subject: str) -> str:
    """Return the event's `type`; `auth_error` for a refused login, which servers publish with the type of a
    disconnection."""
    if subject.startswith("$SYS.") and subject.endswith(".CLIENT.AUTH.ERR"):
        return "auth_error"
    return str(event.get("type", ""))


def domain_differs(event: Json, domain: str) -> bool:
    """Return whether a JetStream event comes from another domain than `domain`."""
    if not domain or not str(event.get("type", "")).startswith(_JETSTREAM):
        return False
    return bool(event.get("domain", "") != domain)


def list_jetstream_subjects(prefix: str, *, advisories: bool, metrics: bool) -> list[str]:
    """Return the subjects of JetStream events. prefix: replaces `$JS.EVENT`."""
    base = prefix or "$JS.EVENT"
    return [f"{base}.ADVISORY.>"] * advisories + [f"{base}.METRIC.>"] * metrics


def list_consumer_subjects(prefix: str, stream: str, consumer: str) -> list[str]:
    """Return the subjects of one consumer's events. prefix: replaces `$JS.EVENT`."""
    base = prefix or "$JS.EVENT"
    return [f"{base}.{kind}.CONSUMER.*.{stream}.{consumer}" for kind in ("ADVISORY", "METRIC")]


def build_cloud_event(event: Json, name: str) -> Json:
    """Return the event in a CloudEvents 1.0 envelope. name: the type where the event has none."""
    return {
        "specversion": "1.0",
        "type": str(event.get("type", "")) or name,
        "source": "urn:nats:jetstream" if name.startswith(_JETSTREAM) else "urn:nats:server",
        "subject": name.rpartition(".")[2],
        "id": str(event.get("id", "")),
        "time": str(event.get("timestamp", "")),
        "datacontenttype": "application/json",
        "data": event,
    }
