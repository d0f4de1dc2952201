"""The configuration of an object bucket, in its own keys, and that of the stream which holds it (ADR-20).

    {"name": "FILES", "ttl": 86400000000000}
    {"name": "OBJ_FILES", "max_age": 86400000000000, ...}

Keys of a stream that a bucket has no name for stay as they are.
"""

from collections.abc import Iterator

from jsctl.errors import BadInput
from jsctl.jetstream.config.kind import Json, is_server_metadata
from jsctl.jetstream.config.schema import Schema, without_metadata
from jsctl.jetstream.kv.config import FIELDS as KV_FIELDS
from jsctl.jetstream.object import buckets
from jsctl.jetstream.object.model import STREAM_PREFIX, build_stream_name
from jsctl.jetstream.stream.config import choose_window

_SAME_KEYS = ("description", "storage", "placement", "metadata")
"""Keys with one name in both configurations."""

_RENAMED_KEYS = {"ttl": "max_age", "replicas": "num_replicas", "max_bucket_size": "max_bytes"}
_UNLIMITED = {"max_bytes": -1, "max_age": 0}
_WORDS = ("name", "compress", *_SAME_KEYS, *_RENAMED_KEYS, "placement.tags", "placement.cluster")


class ObjectBucketSchema(Schema):
    """The configuration of an object bucket."""

    def find_violations(self, config: Json) -> Iterator[str]:
        try:
            buckets.validate_bucket(str(config["name"]))
        except BadInput as error:
            yield error.message


OBJECT_BUCKET = ObjectBucketSchema(
    "object bucket", tuple(field for field in KV_FIELDS if field.key in _WORDS)
)


def stream_to_bucket(stream: str) -> str:
    """Return the bucket that a stream holds."""
    return stream.removeprefix(STREAM_PREFIX)


def is_bucket(stream: str) -> bool:
    """Return whether a stream holds a bucket of objects."""
    return stream.startswith(STREAM_PREFIX) and len(stream) > len(STREAM_PREFIX)


def to_stream(config: Json, live: Json | None = None) -> Json:
    """Return the stream configuration for a bucket's. live: the configuration of the stream, if it exists."""
    bucket = str(config["name"])
    stream: Json = {
        **(buckets.build_config(bucket, {}) if live is None else live),
        "name": build_stream_name(bucket),
    }
    for key, name in [*((key, key) for key in _SAME_KEYS), *_RENAMED_KEYS.items()]:
        if config.get(key) is not None:
            stream[name] = config[key]
        elif live is not None and name in _UNLIMITED:
            stream[name] = _UNLIMITED[name]
        elif live is not None and name not in ("storage", "num_replicas"):
            stream.pop(name, None)
    if config.get("compress") or stream.get("compression"):
        stream["compression"] = "s2" if config.get("compress") else "none"
    age, window = int(stream.get("max_age") or 0), int(stream.get("duplicate_window") or 0)
    if live is None or 0 < age < window:
        stream["duplicate_window"] = choose_window(age)
    unknown = {key: value for key, value in config.items() if key not in OBJECT_BUCKET.kinds}
    return {**stream, **unknown}


def from_stream(stream: Json) -> Json:
    """Return the bucket configuration for a stream's, without the keys that the server adds."""
    config: Json = {"name": stream_to_bucket(str(stream["name"]))}
    for key, name in [*((key, key) for key in _SAME_KEYS), *_RENAMED_KEYS.items()]:
        if stream.get(name) not in (None, "", {}):
            config[key] = stream[name]
    config = without_metadata(config, is_server_metadata)
    if stream.get("compression") == "s2":
        config["compress"] = True
    return config
