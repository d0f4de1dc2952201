"""The configuration of a bucket, in its own keys, and that of the stream which holds it (ADR-8).

    {"name": "CONFIG", "history": 5, "ttl": 86400000000000}
    {"name": "KV_CONFIG", "max_msgs_per_subject": 5, "max_age": 86400000000000, ...}

Keys of a stream that a bucket has no name for stay as they are.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from jsctl.jetstream.config.field import Change, Field
from jsctl.jetstream.config.kind import Json, KeepKey, Text, is_server_metadata, refuse_unknown
from jsctl.jetstream.config.kinds import ListOf, Map, Switch, Texts
from jsctl.jetstream.config.nodes import Node
from jsctl.jetstream.config.numbers import Duration, Number, Size
from jsctl.jetstream.config.origins import Origin, is_imported
from jsctl.jetstream.config.schema import Schema, without_metadata
from jsctl.jetstream.config.stream_fields import FIELDS as STREAM_FIELDS
from jsctl.jetstream.config.stream_fields import STORAGE
from jsctl.jetstream.kv.names import bucket_to_stream, build_subject_prefix, stream_to_bucket, validate_bucket
from jsctl.jetstream.stream.config import choose_window

MAX_HISTORY = 64
"""Maximum number of values of a key that other clients keep; the server accepts any number."""


class BucketOrigin(Origin):
    """A bucket that is mirrored, or from which values are collected: its name, with or without the prefix of
    its stream."""

    metavar = "BUCKET"

    def parse(self, text: str) -> Json:
        return _without_prefix(super().parse(text))

    def read(
        self, node: Node, key: str, *, keep: KeepKey = refuse_unknown, ignored: frozenset[str] = frozenset()
    ) -> Json:
        return _without_prefix(super().read(node, key, keep=keep, ignored=ignored))


def _without_prefix(origin: Json) -> Json:
    return {**origin, "name": stream_to_bucket(str(origin["name"]))}


FIELDS: tuple[Field, ...] = (
    Field(
        "description",
        Text(),
        flag="description",
        help="What the bucket is for",
        label="Description",
    ),
    Field(
        "history",
        Number(least=1),
        flag="history",
        help="Values of a key to keep, the newest one included (1)",
        label="History Kept",
        initial=1,
    ),
    Field(
        "storage",
        STORAGE,
        flag="storage",
        help="Storage backend",
        label="Storage",
        create_only=True,
        initial="file",
        change=Change.NEVER,
    ),
    Field(
        "ttl",
        Duration(forever=True),
        flag="ttl",
        help="How long values are kept: 1h, 30d; -1 is unlimited",
        label="Maximum Age",
        blank=0,
    ),
    Field(
        "marker_ttl",
        Duration(),
        flag="marker-ttl",
        help="Allow keys that expire, after this time or later; markers of expired keys stay as long",
        label="Limit Marker TTL",
        level=1,
    ),
    Field(
        "replicas",
        Number(least=1),
        flag="replicas",
        help="Copies of the data in a cluster (1)",
        label="Replicas",
        initial=1,
    ),
    Field(
        "max_value_size",
        Size(),
        flag="max-value-size",
        help="Size of one value: 1MB; -1 is unlimited",
        label="Maximum Value Size",
        blank=-1,
    ),
    Field(
        "max_bucket_size",
        Size(),
        flag="max-bucket-size",
        help="Size of the whole bucket: 10GB; -1 is unlimited",
        label="Maximum Bucket Size",
        blank=-1,
    ),
    Field(
        "placement.tags",
        Texts(),
        flag="tags",
        help="Place it on servers with this tag; may be repeated",
        label="Placement Tags",
    ),
    *(field for field in STREAM_FIELDS if field.key == "placement.cluster"),
    Field(
        "compress",
        Switch(),
        flag="compress",
        help="Compress file storage",
        label="Compressed",
        blank=False,
    ),
    Field(
        "metadata",
        Map(),
        flag="metadata",
        help="KEY=VALUE to store with the bucket; may be repeated",
    ),
    *(field for field in STREAM_FIELDS if field.key.startswith("republish.")),
    Field(
        "mirror",
        BucketOrigin(),
        flag="mirror",
        help="Copy this bucket: NAME, NAME@DOMAIN or NAME,key=value...",
        create_only=True,
    ),
    Field(
        "sources",
        ListOf(BucketOrigin()),
        flag="source",
        help="Collect values from this bucket, written like --mirror; may be repeated",
    ),
    Field("name", Text()),
)

_REMOVALS = {"no-mirror": "mirror", "no-republish": "republish"}

_SAME_KEYS = ("description", "storage", "placement", "metadata", "republish")
"""Keys with one name in both configurations."""

_RENAMED_KEYS = {
    "history": "max_msgs_per_subject",
    "ttl": "max_age",
    "replicas": "num_replicas",
    "max_value_size": "max_msg_size",
    "max_bucket_size": "max_bytes",
}

_BUCKET_DEFAULTS: Mapping[str, Any] = {
    "retention": "limits",
    "discard": "new",
    "max_msgs": -1,
    "max_consumers": -1,
    "max_bytes": -1,
    "max_msg_size": -1,
    "max_age": 0,
    "allow_rollup_hdrs": True,
    "deny_delete": True,
    "allow_direct": True,
}
"""The configuration that makes a stream a bucket (nats.go: prepareKeyValueConfig)."""


class BucketSchema(Schema):
    """The configuration of a bucket."""

    def find_violations(self, config: Json) -> Iterator[str]:
        try:
            validate_bucket(str(config["name"]))
        except ValueError as error:
            yield str(error)
        republish = config.get("republish")
        if config.get("mirror") and config.get("sources"):
            yield "a bucket can have a --mirror or --source, not both"
        if config.get("mirror") and config.get("marker_ttl"):
            yield "a mirror has the markers of its origin: leave out --marker-ttl"
        if 0 < int(config.get("marker_ttl") or 0) < 1_000_000_000:
            yield "--marker-ttl must be 1s or more"
        if int(config.get("max_value_size") or -1) >= 1 << 31:
            yield "--max-value-size is at most 2 GiB"
        if republish is not None and not republish.get("dest"):
            yield "--republish-destination is missing"
        if republish is not None and not republish.get("src"):
            yield "--republish-source is missing"


BUCKET = BucketSchema("bucket", FIELDS, _REMOVALS)


def find_warnings(config: Json) -> list[str]:
    """Return warnings about values that the server accepts and other clients do not."""
    history = int(config.get("history") or 1)
    if history > MAX_HISTORY:
        return [f"a history of {history} is more than other clients create: {MAX_HISTORY}"]
    return []


def to_stream(config: Json, live: Json | None = None) -> Json:
    """Return the stream configuration for a bucket's. live: the configuration of the stream, if it exists."""
    bucket = str(config["name"])
    stream: Json = {**(_BUCKET_DEFAULTS if live is None else live), "name": bucket_to_stream(bucket)}
    unknown = {key: value for key, value in config.items() if key not in BUCKET.kinds}
    for key, name in [*((key, key) for key in _SAME_KEYS), *_RENAMED_KEYS.items()]:
        if config.get(key) is not None:
            stream[name] = config[key]
        elif live is not None:
            _reset(stream, name)
    if config.get("compress") or stream.get("compression"):
        stream["compression"] = "s2" if config.get("compress") else "none"
    if config.get("marker_ttl"):
        stream |= {"allow_msg_ttl": True, "subject_delete_marker_ttl": config["marker_ttl"]}
    else:
        stream.pop("subject_delete_marker_ttl", None)
    _put_origins(stream, config, bucket)
    age, window = int(stream.get("max_age") or 0), int(stream.get("duplicate_window") or 0)
    if not stream.get("mirror") and (live is None or (0 < age < window)):
        stream["duplicate_window"] = choose_window(age)
    return {**stream, **unknown}


def _reset(stream: Json, key: str) -> None:
    """Reset a key that a configuration no longer has to its value in a new bucket."""
    if key in _BUCKET_DEFAULTS:
        stream[key] = _BUCKET_DEFAULTS[key]
    elif key not in ("storage", "num_replicas", "max_msgs_per_subject"):
        stream.pop(key, None)


def _put_origins(stream: Json, config: Json, bucket: str) -> None:
    own_subjects = build_subject_prefix(bucket) + ">"
    mirror, sources = config.get("mirror"), config.get("sources")
    for key in ("mirror", "sources"):
        stream.pop(key, None)
    if mirror:
        origin = {**mirror, "name": bucket_to_stream(stream_to_bucket(str(mirror["name"])))}
        if not is_imported(origin) and "subject_transforms" not in origin:
            origin = _with_transform(
                origin, own_subjects
            )  # otherwise its keys would only be found below the origin's name
        stream |= {"mirror": origin, "mirror_direct": True}
        stream.pop("subjects", None)
        return
    stream["subjects"] = stream.get("subjects") or [own_subjects]
    stream.pop("mirror_direct", None)
    if sources:
        stream["sources"] = [
            source
            if "subject_transforms" in source or (is_imported(source) and source["name"] == stream["name"])
            else _with_transform(source, own_subjects)
            for source in ({**origin, "name": _find_stream_name(origin)} for origin in sources)
        ]


def _find_stream_name(origin: Json) -> str:
    return bucket_to_stream(stream_to_bucket(str(origin["name"])))


def _with_transform(origin: Json, own_subjects: str) -> Json:
    """Return an origin with a transform that stores its keys under the bucket's own name."""
    origin_subjects = build_subject_prefix(stream_to_bucket(str(origin["name"]))) + ">"
    return (
        origin
        if origin_subjects == own_subjects
        else {**origin, "subject_transforms": [{"src": origin_subjects, "dest": own_subjects}]}
    )


def from_stream(stream: Json) -> Json:
    """Return the bucket configuration for a stream's, without the keys that the server adds."""
    bucket = stream_to_bucket(str(stream["name"]))
    config: Json = {"name": bucket}
    for key, name in [*((key, key) for key in _SAME_KEYS), *_RENAMED_KEYS.items()]:
        if stream.get(name) not in (None, "", {}):
            config[key] = stream[name]
    config = without_metadata(config, is_server_metadata)
    if stream.get("compression") == "s2":
        config["compress"] = True
    if stream.get("subject_delete_marker_ttl"):
        config["marker_ttl"] = stream["subject_delete_marker_ttl"]
    if stream.get("mirror"):
        config["mirror"] = _to_bucket_origin(stream["mirror"], bucket)
    if stream.get("sources"):
        config["sources"] = [_to_bucket_origin(source, bucket) for source in stream["sources"]]
    return config


def _to_bucket_origin(origin: Json, bucket: str) -> Json:
    """Return an origin in a bucket's form: without the transform that follows from the names."""
    name = stream_to_bucket(str(origin["name"]))
    default_transforms = [
        {"src": f"{build_subject_prefix(name)}>", "dest": f"{build_subject_prefix(bucket)}>"}
    ]
    config = {key: value for key, value in origin.items() if value not in (None, "", [])}
    if config.get("subject_transforms") == default_transforms:
        del config["subject_transforms"]
    return {**config, "name": name}
