"""What verbs of `jsctl kv` changed, or would change."""

from collections.abc import Sequence

from jsctl.base.units import format_bytes, join_some, pluralize
from jsctl.jetstream.api import Json
from jsctl.jetstream.kv.entry import Entry
from jsctl.views.intent import Intent
from jsctl.views.kv.value import shorten
from jsctl.views.result import Result, Text, report


def stored(bucket: str, key: str, revision: int, value: bytes | None = None) -> Result:
    """Show a value that was stored: by its revision or, if it is given, by the value, as nats does."""
    data = {"bucket": bucket, "key": key, "revision": revision}
    if value is not None:
        return Result([Text(value.decode(errors="surrogateescape"), whole=True)], data=data)
    return Result([Text(f"{bucket} > {key} revision: {revision}")], data=data)


def intent(verb: str, bucket: str, keys: Sequence[str], counts: Sequence[int] | None = None) -> Intent:
    """Return the intent to delete or purge keys. counts: of the values of each key that are removed."""
    action = f"{verb} {pluralize(len(keys), 'key')} of bucket {bucket} ({join_some(keys, 10)})"
    if len(keys) == 1:
        action = f"{verb} key {bucket} > {keys[0]}"
    lines = [f"Would {verb} {bucket} > {key}" for key in keys]
    if counts is not None:
        action += f" with {pluralize(sum(counts), 'value')}"
        lines = [f"{line}: {pluralize(count, 'value')}" for line, count in zip(lines, counts, strict=True)]
    return Intent(action, {"bucket": bucket, "keys": list(keys)}, lines)


def revert_intent(bucket: str, entry: Entry, latest: Entry) -> Intent:
    """Return the intent to store an earlier value again, in place of the latest entry."""
    now = shorten(latest.value) if latest.is_value else f"nothing, it {latest.removal}"
    action = (
        f"revert {bucket} > {entry.key} to revision {entry.revision}: {shorten(entry.value)}"
        f" (now revision {latest.revision}: {now})"
    )
    facts = {"bucket": bucket, "key": entry.key, "revision": entry.revision, "latest": latest.revision}
    return Intent(action, {**facts, "bytes": len(entry.value)})


def marked(verb: str, bucket: str, keys: Sequence[str]) -> Result:
    """Show keys that were deleted or purged. verb: "deleted" or "purged"."""
    is_one = len(keys) == 1
    label = f"{bucket} > {keys[0]}" if is_one else f"{pluralize(len(keys), 'key')} of bucket {bucket}"
    was = "was" if is_one else "were"
    return report(f"{label} {was} {verb}", {"bucket": bucket, "keys": list(keys), verb: True})


def bucket_intent(bucket: str, values: int, size: int) -> Intent:
    """Return the intent to remove a bucket. size: bytes."""
    action = f"delete bucket {bucket} ({pluralize(values, 'value')}, {format_bytes(size)})"
    return Intent(action, {"bucket": bucket, "values": values, "bytes": size})


def bucket_removed(bucket: str) -> Result:
    """Show a bucket that was removed."""
    return report(f"Bucket {bucket} was deleted", {"bucket": bucket, "deleted": True})


def compact_intent(bucket: str, keys: int, with_marker: int) -> Intent:
    """Return the intent of `kv compact`. keys: how many have been deleted. with_marker: how many old markers
    are removed, too.
    """
    markers = f", and {pluralize(with_marker, 'old marker')}," if with_marker else ""
    action = f"remove the earlier values of {pluralize(keys, 'deleted key')}{markers} of bucket {bucket}"
    return Intent(action, {"bucket": bucket, "keys": keys, "markers": with_marker})


def compacted(bucket: str, keys: int, with_marker: int, *, messages: int) -> Result:
    """Show the result of `kv compact`. messages: how many were removed."""
    data: Json = {"bucket": bucket, "keys": keys, "markers": with_marker, "messages": messages}
    text = f"Removed {pluralize(messages, 'message')} of {pluralize(keys, 'deleted key')} of bucket {bucket}"
    return report(text, data)


def import_intent(bucket: str, values: int, removals: int, stored: int) -> Intent:
    """Return the intent of `kv import`. stored: values and markers that the bucket has."""
    question = f"Bucket {bucket} holds {pluralize(stored, 'entry')}; replace those of the same keys"
    action = f"store {_format_entries(values, removals)} in bucket {bucket}"
    return Intent(action, {"bucket": bucket, "values": values, "markers": removals}, question=question)


def imported(bucket: str, values: int, removals: int) -> Result:
    """Show the result of `kv import`."""
    data: Json = {"bucket": bucket, "values": values, "markers": removals}
    return Result([Text(f"Stored {_format_entries(values, removals)} in bucket {bucket}")], data=data)


def _format_entries(values: int, removals: int) -> str:
    return pluralize(values, "value") + (f" and {pluralize(removals, 'marker')}" if removals else "")


def exported(bucket: str, entries: int, file: str) -> Result:
    """Show the result of `kv export --output FILE`."""
    data = {"bucket": bucket, "entries": entries, "file": file}
    noun = "entry" if entries == 1 else "entries"
    return Result([Text(f"Wrote {entries:,} {noun} of bucket {bucket} to {file}")], data=data)
