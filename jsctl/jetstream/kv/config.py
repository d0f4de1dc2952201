"""The configuration of a bucket, in its own keys, and that of the stream which holds it (ADR-8).

    {"name": "CONFIG", "history": 5, "ttl": 86400000000000}
    {"name": "KV_CONFIG", "max_msgs_per_subject": 5, "max_age": 86400000000000, ...}

Keys of a stream that a bucket has no name for stay as they are. Buckets of objects have some of the same keys
(`object.config`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from jsctl.errors import BadInput
from jsctl.jetstream.config.field import Field
from jsctl.jetstream.config.kind import Json, KeepKey, Text, is_server_metadata, refuse_unknown
from jsctl.jetstream.config.kinds import ListOf, Switch
from jsctl.jetstream.config.nodes import Node
from jsctl.jetstream.config.numbers import Duration, Number, Size
from jsctl.jetstream.config.origins import Origin, is_imported
from jsctl.jetstream.config.schema import Schema, without_metadata
from jsctl.jetstream.kv.names import STREAM_PREFIX, bucket_to_stream, build_subject_prefix, stream_to_bucket
from jsctl.jetstream.stream.config import STREAM, choose_window
from jsctl.nats.subjects import validate_bucket

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
    STREAM.by_key["description"]._replace(help="What the bucket is for"),
    Field(
        "history",
        Number(least=1),
        help="Values of a key to keep, the newest one included (1)",
        label="History Kept",
        default=1,
    ),
    STREAM.by_key["storage"]._replace(question=None),
    Field(
        "ttl",
        Duration(forever=True),
        help="How long values are kept: 1h, 30d; -1 is unlimited",
        label="Maximum Age",
        default=0,
    ),
    Field(
        "marker_ttl",
        Duration(),
        help="Allow keys that expire, after this time or later; markers of expired keys stay as long",
        label="Limit Marker TTL",
        level=1,
    ),
    Field(
        "replicas",
        Number(least=1),
        help="Copies of the data in a cluster (1)",
        label="Replicas",
        default=1,
    ),
    Field(
        "max_value_size",
        Size(),
        help="Size of one value: 1MB; -1 is unlimited",
        label="Maximum Value Size",
        default=-1,
    ),
    Field(
        "max_bucket_size",
        Size(),
        help="Size of the whole bucket: 10GB; -1 is unlimited",
        label="Maximum Bucket Size",
        default=-1,
    ),
    STREAM.by_key["placement.tags"]._replace(flag="tags"),
    STREAM.by_key["placement.cluster"],
    Field(
        "compress",
        Switch(),
        help="Compress file storage",
        label="Compressed",
        default=False,
    ),
    STREAM.by_key["metadata"]._replace(help="KEY=VALUE to store with the bucket; may be repeated"),
    *(field for field in STREAM.fields if field.key.startswith("republish.")),
    Field(
        "mirror",
        BucketOrigin(),
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

_STREAM_KEYS = {
    **{key: key for key in ("description", "storage", "placement", "metadata", "republish")},
    "history": "max_msgs_per_subject",
    "ttl": "max_age",
    "replicas": "num_replicas",
    "max_value_size": "max_msg_size",
    "max_bucket_size": "max_bytes",
}
"""Keys of a bucket, and those of its stream that have the same value."""

_KEPT_KEYS = ("storage", "num_replicas", "max_msgs_per_subject")
"""Keys of a stream that stay as they are when a bucket's configuration does not have them."""

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
    """The configuration of a kind of bucket, and how it becomes that of a stream.

    prefix: of the names of its streams. key: of the list of such buckets in a declared file.
    """

    written = ("history", "storage", "replicas")
    prefix = ""
    key = ""

    def bucket_to_stream(self, bucket: str) -> str:
        """Return the stream that holds a bucket."""
        return self.prefix + bucket

    def stream_to_bucket(self, stream: str) -> str:
        """Return the bucket that a stream holds."""
        return stream.removeprefix(self.prefix)

    def is_bucket(self, stream: str) -> bool:
        """Return whether a stream holds a bucket of this kind, by its name."""
        return stream.startswith(self.prefix) and len(stream) > len(self.prefix)

    def validate_bucket(self, name: str) -> str:
        """Return a name if a new bucket may have it. Raises ValueError."""
        return validate_bucket(name, self.prefix)

    def find_violations(self, config: Json) -> Iterator[str]:
        try:
            self.validate_bucket(str(config["name"]))
        except ValueError as error:
            yield str(error)

    def to_stream(self, config: Json, live: Json | None = None) -> Json:
        """Return the stream configuration for a bucket's. live: the configuration of the stream, if it
        exists."""
        bucket = str(config["name"])
        defaults = self.build_defaults(bucket)
        stream: Json = {**(defaults if live is None else live), "name": self.bucket_to_stream(bucket)}
        for key, name in self._list_stream_keys():
            if config.get(key) is not None:
                stream[name] = config[key]
            elif live is not None and name not in _KEPT_KEYS:
                if name in defaults:
                    stream[name] = defaults[name]
                else:
                    stream.pop(name, None)
        if config.get("compress") or stream.get("compression"):
            stream["compression"] = "s2" if config.get("compress") else "none"
        self.put_special_keys(stream, config)
        age, window = int(stream.get("max_age") or 0), int(stream.get("duplicate_window") or 0)
        if live is None or 0 < age < window:
            stream["duplicate_window"] = choose_window(age)
        return {**stream, **{key: value for key, value in config.items() if key not in self.kinds}}

    def from_stream(self, stream: Json) -> Json:
        """Return the bucket configuration for a stream's, without the keys that the server adds."""
        config: Json = {"name": self.stream_to_bucket(str(stream["name"]))}
        for key, name in self._list_stream_keys():
            if stream.get(name) not in (None, "", {}):
                config[key] = stream[name]
        config = without_metadata(config, is_server_metadata)
        if stream.get("compression") == "s2":
            config["compress"] = True
        return config

    def _list_stream_keys(self) -> list[tuple[str, str]]:
        return [(key, name) for key, name in _STREAM_KEYS.items() if key in self.kinds]

    # Overridden by kinds of buckets.

    def build_defaults(self, bucket: str) -> Json:
        """Return the configuration that makes a stream a bucket."""
        raise NotImplementedError

    def put_special_keys(self, stream: Json, config: Json) -> None:
        """Put what only this kind of bucket has into the configuration of its stream."""


class KeyValueSchema(BucketSchema):
    """The configuration of a key-value bucket."""

    prefix = STREAM_PREFIX
    key = "buckets"

    def find_violations(self, config: Json) -> Iterator[str]:
        yield from super().find_violations(config)
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

    def build_defaults(self, bucket: str) -> Json:
        return dict(_BUCKET_DEFAULTS)

    def put_special_keys(self, stream: Json, config: Json) -> None:
        if config.get("marker_ttl"):
            stream |= {"allow_msg_ttl": True, "subject_delete_marker_ttl": config["marker_ttl"]}
        else:
            stream.pop("subject_delete_marker_ttl", None)
        _put_origins(stream, config)

    def from_stream(self, stream: Json) -> Json:
        config = super().from_stream(stream)
        if stream.get("subject_delete_marker_ttl"):
            config["marker_ttl"] = stream["subject_delete_marker_ttl"]
        if stream.get("mirror"):
            config["mirror"] = _to_bucket_origin(stream["mirror"], config["name"])
        if stream.get("sources"):
            config["sources"] = [_to_bucket_origin(source, config["name"]) for source in stream["sources"]]
        return config


BUCKET = KeyValueSchema("bucket", FIELDS, _REMOVALS)


def find_warnings(config: Json) -> list[str]:
    """Return warnings about values that the server accepts and other clients do not, or whose effect is
    another one than expected."""
    history = int(config.get("history") or 1)
    warnings = []
    if history > MAX_HISTORY:
        warnings.append(f"a history of {history} is more than other clients create: {MAX_HISTORY}")
    if config.get("mirror"):
        if int(config.get("max_bucket_size") or -1) > 0:
            warnings.append("a mirror with --max-bucket-size is incomplete once it is full, and stays so")
        if int(config.get("max_value_size") or -1) > 0:
            warnings.append("a mirror with --max-value-size stops at the first value that is larger")
    return warnings


def refuse_long_history(config: Json) -> None:
    """Raise BadInput for a history that other clients do not create."""
    if int(config.get("history") or 1) > MAX_HISTORY:
        raise BadInput(f"a history may have at most {MAX_HISTORY} values of a key")


def _put_origins(stream: Json, config: Json) -> None:
    own_subjects = build_subject_prefix(str(config["name"])) + ">"
    mirror, sources = config.get("mirror"), config.get("sources")
    for key in ("mirror", "sources"):
        stream.pop(key, None)
    if mirror:
        origin = {**mirror, "name": _find_stream_name(mirror)}
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
