"""The kinds of buckets that a file can declare: key-value and object buckets, each held by a stream."""

from jsctl.jetstream.kv.config import BUCKET, BucketSchema
from jsctl.jetstream.object.config import OBJECT_BUCKET

KINDS: tuple[BucketSchema, ...] = (BUCKET, OBJECT_BUCKET)


def find_bucket_kind(stream: str) -> BucketSchema | None:
    """Return the kind of bucket that a stream holds, by its name; None if it holds none."""
    return next((kind for kind in KINDS if kind.is_bucket(stream)), None)
