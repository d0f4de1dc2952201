"""The configuration of an object bucket, in its own keys, and that of the stream which holds it (ADR-20).

    {"name": "FILES", "ttl": 86400000000000}
    {"name": "OBJ_FILES", "max_age": 86400000000000, ...}

Keys of a stream that a bucket has no name for stay as they are.
"""

from jsctl.jetstream.config.kind import Json
from jsctl.jetstream.kv.config import FIELDS as KV_FIELDS
from jsctl.jetstream.kv.config import BucketSchema
from jsctl.jetstream.object.buckets import build_defaults
from jsctl.jetstream.object.model import STREAM_PREFIX

_KEYS = (
    *("name", "description", "storage", "placement.tags", "placement.cluster", "metadata"),
    *("ttl", "replicas", "max_bucket_size", "compress"),
)


class ObjectBucketSchema(BucketSchema):
    """The configuration of an object bucket."""

    prefix = STREAM_PREFIX
    key = "object_buckets"

    def build_defaults(self, bucket: str) -> Json:
        return build_defaults(bucket)


OBJECT_BUCKET = ObjectBucketSchema("object bucket", tuple(field for field in KV_FIELDS if field.key in _KEYS))
