"""Changes that the server refuses, found before anything is sent (server: checkStreamCfg,
configUpdateCheck; acceptableConsumerUpdate; each tried on nats-server 2.15)."""

from collections.abc import Mapping, Sequence
from typing import Any

from jsctl.jetstream.config.differences import Difference
from jsctl.jetstream.config.field import Change
from jsctl.jetstream.config.schema import Schema
from jsctl.jetstream.consumer.config import CONSUMER
from jsctl.jetstream.kv.config import BucketSchema
from jsctl.jetstream.stream.config import STREAM

RECREATE = "cannot be changed: remove and add"


def find_stream_refusals(
    before: Mapping[str, Any], after: Mapping[str, Any], changes: Sequence[Difference]
) -> dict[str, str]:
    """Return why the server refuses changes of a stream, by key."""
    if before.get("sealed"):
        return {change.key: "the stream is sealed" for change in changes}
    return {
        change.key: RECREATE
        for change in changes
        if _is_refused(STREAM, change, after)
        or (change.key == "retention" and "workqueue" in (change.before, change.after))
    }


def find_bucket_refusals(
    kind: BucketSchema, before: Mapping[str, Any], after: Mapping[str, Any], changes: Sequence[Difference]
) -> dict[str, str]:
    """Return why the server refuses changes of a bucket, by key."""
    return {change.key: RECREATE for change in changes if _is_refused(kind, change, after)}


def find_consumer_refusals(
    before: Mapping[str, Any], after: Mapping[str, Any], changes: Sequence[Difference]
) -> dict[str, str]:
    """Return why the server refuses changes of a consumer, by key."""
    turned = bool(before.get("deliver_subject")) != bool(after.get("deliver_subject"))
    return {
        change.key: RECREATE
        for change in changes
        if _is_refused(CONSUMER, change, after) or (change.key == "deliver_subject" and turned)
    }


def _is_refused(schema: Schema, change: Difference, after: Mapping[str, Any]) -> bool:
    if change.key.partition(".")[0] == "mirror" and after.get("mirror"):
        return True  # a mirror may become a stream of its own, and nothing else
    field = schema.by_key.get(change.key)
    if field is None:
        return False
    return field.change is Change.NEVER or (field.change is Change.ONLY_ON and bool(change.before))
