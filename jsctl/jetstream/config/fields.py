"""The one table of stream flags and configuration keys, which add, edit and copy are built from."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from jsctl.units import SECOND

Kind = Literal[
    "text",
    "texts",  #: a list of texts
    "subjects",  #: a list; one text may hold several, parted by commas or spaces
    "number",
    "integer",  #: a number that may be negative
    "limit",  #: a count; -1 is unlimited
    "size",  #: bytes; -1 is unlimited
    "span",  #: ns; 0 is unlimited
    "switch",
    "inverse",  #: a switch whose key says the opposite
    "choice",
    "map",  #: texts by text
    "origin",  #: a mirror or source
    "origins",
]
ALWAYS = frozenset({"add", "edit", "copy"})
AT_BIRTH = frozenset({"add", "copy"})  #: the server lets nobody change it later


class Field(NamedTuple):
    """A flag of a stream and the key that it sets.

    path: the key, with those above it. choices: what may be said, and what is stored for it.
    level: the API level that the server needs for it (ADR-44).
    """

    flag: str
    path: tuple[str, ...]
    kind: Kind
    help: str
    verbs: frozenset[str] = ALWAYS
    choices: Mapping[str, str] = {}
    negatable: bool = True  #: switches: whether --no-<flag> exists
    level: int = 0


_STORAGE = {"file": "file", "f": "file", "memory": "memory", "m": "memory"}
_COMPRESSION = {"none": "none", "s2": "s2"}
_RETENTION = {
    "limits": "limits",
    "interest": "interest",
    "workq": "workqueue",
    "work": "workqueue",
    "workqueue": "workqueue",
}

_ = Field
FIELDS: tuple[Field, ...] = (
    _("subjects", ("subjects",), "subjects", "Subjects that the stream stores; repeat it or part by commas"),
    _("description", ("description",), "text", "What the stream is for"),
    _("storage", ("storage",), "choice", "Storage backend", AT_BIRTH, _STORAGE),
    _("compression", ("compression",), "choice", "Compression of file storage", ALWAYS, _COMPRESSION),
    _("replicas", ("num_replicas",), "number", "Copies of the data in a cluster"),
    _("tag", ("placement", "tags"), "texts", "Place it on servers with this tag; may be repeated"),
    _("cluster", ("placement", "cluster"), "text", "Place it in this cluster"),
    _("ack", ("no_ack",), "inverse", "Acknowledge what is published (default)"),
    _("retention", ("retention",), "choice", "When messages go", ALWAYS, _RETENTION),
    _("discard", ("discard",), "choice", "What gives way at a limit", ALWAYS, {"new": "new", "old": "old"}),
    _("discard-per-subject", ("discard_new_per_subject",), "switch",
      "Refuse new messages at a subject's limit"),
    _("first-sequence", ("first_seq",), "number", "Sequence of the first message", AT_BIRTH),
    _("max-age", ("max_age",), "span", "Longest that a message is kept: 1y, 30d, 12h; -1 is for ever"),
    _("max-bytes", ("max_bytes",), "size", "Size of the whole stream: 10GB; -1 is unlimited"),
    _("max-consumers", ("max_consumers",), "limit", "Number of consumers; -1 is unlimited"),
    _("max-msg-size", ("max_msg_size",), "size", "Size of one message: 1MB; -1 is unlimited"),
    _("max-msgs", ("max_msgs",), "limit", "Number of messages; -1 is unlimited"),
    _("max-msgs-per-subject", ("max_msgs_per_subject",), "limit", "Messages of one subject; -1 is unlimited"),
    _("dupe-window", ("duplicate_window",), "span", "How long message IDs are remembered: 2m"),
    _("mirror", ("mirror",), "origin", "Copy this stream: NAME, NAME@DOMAIN, NAME,key=value... or JSON"),
    _("source", ("sources",), "origins", "Collect from this stream, written like --mirror; may be repeated"),
    _("allow-batch", ("allow_atomic",), "switch", "Allow atomic batches", level=2),
    _("allow-fast", ("allow_batched",), "switch", "Allow fast batches", level=4),
    _("allow-counter", ("allow_msg_counter",), "switch", "Make it a counter", negatable=False, level=2),
    _("allow-rollup", ("allow_rollup_hdrs",), "switch", "Allow roll-ups by header"),
    _("deny-delete", ("deny_delete",), "switch", "Refuse to delete single messages"),
    _("deny-purge", ("deny_purge",), "switch", "Refuse to purge"),
    _("allow-direct", ("allow_direct",), "switch", "Allow direct get (default)"),
    _("allow-mirror-direct", ("mirror_direct",), "switch", "Answer direct gets for the mirrored stream"),
    _("allow-msg-ttl", ("allow_msg_ttl",), "switch", "Allow TTLs of messages", negatable=False, level=1),
    _("allow-schedules", ("allow_msg_schedules",), "switch", "Allow scheduled messages", level=2),
    _("subject-del-markers-ttl", ("subject_delete_marker_ttl",), "span",
      "How long delete markers stay", level=1),
    _("transform-source", ("subject_transform", "src"), "text", "Subjects to rename when they are stored"),
    _("transform-destination", ("subject_transform", "dest"), "text", "What --transform-source becomes"),
    _("metadata", ("metadata",), "map", "KEY=VALUE to keep with the stream; may be repeated"),
    _("republish-source", ("republish", "src"), "text", "Subjects to publish again once stored"),
    _("republish-destination", ("republish", "dest"), "text", "Where --republish-source is published to"),
    _("republish-headers", ("republish", "headers_only"), "switch",
      "Publish again headers only", negatable=False),
    _("limit-consumer-inactive", ("consumer_limits", "inactive_threshold"), "span",
      "Longest inactive threshold of its consumers", AT_BIRTH),
    _("limit-consumer-max-pending", ("consumer_limits", "max_ack_pending"), "number",
      "Most pending acknowledgements of its consumers", AT_BIRTH),
    _("persist-mode", ("persist_mode",), "choice", "When writes reach the disk", AT_BIRTH,
      {"default": "default", "async": "async"}, level=2),
)  # fmt: skip
BY_FLAG: Mapping[str, Field] = {field.flag: field for field in FIELDS}

REMOVALS: Mapping[str, str] = {
    "no-mirror": "mirror",
    "no-transform": "subject_transform",
    "no-republish": "republish",
}
"""Flags of edit that take a whole key away."""

DEFAULTS: Mapping[str, Any] = {
    "retention": "limits",
    "storage": "file",
    "discard": "old",
    "num_replicas": 1,
    "max_consumers": -1,
    "max_msgs": -1,
    "max_msgs_per_subject": -1,
    "max_bytes": -1,
    "max_age": 0,
    "max_msg_size": -1,
    "allow_direct": True,
}
"""What a new stream has where nobody said otherwise; the server has the same but for `allow_direct`."""

DUPLICATE_WINDOW = 120 * SECOND
