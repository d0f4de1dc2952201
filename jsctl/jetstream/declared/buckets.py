"""What a file can declare as a bucket: key-value and object buckets, each the stream that holds it."""

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

    key: of its list in a file. word: what people call one. stream_of: the name of its stream; bucket_of: the
    way back; holds: whether the stream of a name is such a bucket. to_stream, from_stream: the same for
    configurations.
    """

    key: str
    word: str
    schema: Schema
    stream_of: Callable[[str], str]
    bucket_of: Callable[[str], str]
    holds: Callable[[str], bool]
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
    """Return the kind of bucket that a stream holds, by its name; None for none."""
    return next((kind for kind in KINDS if kind.holds(stream)), None)
