"""The options of the data source that name a bucket, and their meaning for its stream."""

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput
from jsctl.jetstream.kv.names import bucket_to_stream, build_subject_prefix
from jsctl.jetstream.object.model import build_info_filter, build_stream_name
from jsctl.spark.source.option_values import OptionValues
from jsctl.spark.source.payload_options import DECODE_OPTIONS, FindSchema, parse_payload

if TYPE_CHECKING:
    from jsctl.spark.decoding.columns import PayloadColumns

Rows = Literal["messages", "keys", "objects"]
"""What rows are."""

KV_COLUMNS = ("bucket", "key", "value", "revision", "operation", "created")
OBJECT_COLUMNS = (
    "bucket",
    "name",
    "description",
    "size",
    "chunks",
    "digest",
    "metadata",
    "link",
    "revision",
    "operation",
    "created",
)
"""Columns of buckets, which `buckets` describes."""

_NOT_FOR_BUCKETS = (
    "stream",
    "streams",
    "subject",
    "columns",
    "includeHeaders",
    "includeData",
    "failOnDeleted",
)


class Bucket(NamedTuple):
    """The meaning of a bucket's options for its stream. payload: makes columns of values; None for values as
    they are."""

    stream: str
    subjects: tuple[str, ...]
    columns: tuple[str, ...]
    latest: bool
    rows: Rows
    payload: "PayloadColumns | None" = None


def parse_bucket(
    values: OptionValues, streaming: bool | None, login: Settings, find_schema: FindSchema | None
) -> Bucket | None:
    """Return the bucket to read, None for a stream. login, find_schema: as for `parse_columns`.

    Raises BadInput.
    """
    bucket, objects = values.get_text("bucket"), values.get_text("objects")
    name, history = bucket or objects, values.get_text("history")
    if not name:
        for option in ("keys", "history"):
            if values.get_text(option):
                raise BadInput(f"option {option} is only for buckets", "name one with the option bucket")
        return None
    if bucket and objects:
        raise BadInput("options bucket and objects cannot be used together", "use only one")
    if not re.fullmatch(r"[a-zA-Z0-9_-]+", name):
        raise BadInput(f"{name!r} is not a valid bucket name")
    for option in _NOT_FOR_BUCKETS:
        if values.get_text(option):
            raise BadInput(f"option {option} is for streams, not for buckets", "remove it")
    if history not in ("", "latest", "all"):
        raise BadInput(f"history {history!r} is neither latest nor all")
    if history == "latest" and streaming:
        raise BadInput(
            "history latest is only for spark.read", "remove it: a streaming query reads all changes"
        )
    latest = history != "all" and not streaming
    if objects:
        if values.get_text("keys"):
            raise BadInput("option keys is only for key-value buckets")
        for option in DECODE_OPTIONS:
            if values.get_text(option):
                raise BadInput(
                    f"option {option} is only for streams and key-value buckets",
                    "remove it: the content of objects is not read",
                )
        return Bucket(build_stream_name(name), (build_info_filter(name),), OBJECT_COLUMNS, latest, "objects")
    keys = [key.strip() for key in values.get_text("keys").split(",") if key.strip()] or [">"]
    subjects = tuple(build_subject_prefix(name) + key for key in keys)
    other_columns = tuple(column for column in KV_COLUMNS if column != "value")
    payload = parse_payload(values, other_columns, login, find_schema, "value")
    columns = (*other_columns, *payload.schema.names) if payload else KV_COLUMNS
    return Bucket(bucket_to_stream(name), subjects, columns, latest, "keys", payload)
