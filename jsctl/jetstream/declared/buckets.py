"""The kinds of buckets that a file can declare: key-value and object buckets, each held by a stream."""

from collections.abc import Callable
from typing import NamedTuple

from jsctl.jetstream.config.kind import Json
from jsctl.jetstream.config.schema import Schema
from jsctl.jetstream.kv import config as kv
from jsctl.jetstream.kv import names as kv_names
from jsctl.jetstream.object import config as objects
from jsctl.jetstream.object.model import build_stream_name


class BucketKind(NamedTuple):
    """A kind of bucket.

    key: the name of its list in a file. word: what people call one. bucket_to_stream, stream_to_bucket:
    convert names; is_bucket: whether the stream of a name holds such a bucket. to_stream, from_stream:
    convert configurations.
    """

    key: str
    word: str
    schema: Schema
    bucket_to_stream: Callable[[str], str]
    stream_to_bucket: Callable[[str], str]
    is_bucket: Callable[[str], bool]
    to_stream: Callable[[Json, Json | None], Json]
    from_stream: Callable[[Json], Json]


KEY_VALUE = BucketKind(
    "buckets",
    "bucket",
    kv.BUCKET,
    kv_names.bucket_to_stream,
    kv_names.stream_to_bucket,
    kv_names.is_bucket,
    kv.to_stream,
    kv.from_stream,
)
OBJECT = BucketKind(
    "object_buckets",
    "object bucket",
    objects.OBJECT_BUCKET,
    build_stream_name,
    objects.stream_to_bucket,
    objects.is_bucket,
    objects.to_stream,
    objects.from_stream,
)
KINDS = (KEY_VALUE, OBJECT)


def find_bucket_kind(stream: str) -> BucketKind | None:
    """Return the kind of bucket that a stream holds, by its name; None if it holds none."""
    return next((kind for kind in KINDS if kind.is_bucket(stream)), None)
