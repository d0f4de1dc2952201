"""What verbs of `jsctl kv` changed, or would change."""

from collections.abc import Sequence

from jsctl.jetstream.api import Json
from jsctl.units import format_bytes, plural
from jsctl.views.result import Result, Text

_LISTED = 10
"""Keys that a question lists."""


def stored(bucket: str, key: str, revision: int) -> Result:
    """A value that was stored."""
    data = {"bucket": bucket, "key": key, "revision": revision}
    return Result([Text(f"{bucket} > {key} revision: {revision}")], data=data)


def question(verb: str, bucket: str, keys: Sequence[str]) -> str:
    """The one question before keys are deleted or purged."""
    if len(keys) == 1:
        return f"Really {verb} key {bucket} > {keys[0]}"
    listed = ", ".join(keys[:_LISTED])
    more = f" and {len(keys) - _LISTED:,} more" if len(keys) > _LISTED else ""
    return f"Really {verb} {plural(len(keys), 'key')} of bucket {bucket} ({listed}{more})"


def dry_run(verb: str, bucket: str, keys: Sequence[str]) -> Result:
    """`--dry-run`: the keys that would go."""
    lines = [f"Would {verb} {bucket} > {key}" for key in keys]
    data = {"dry_run": True, "bucket": bucket, "keys": list(keys)}
    return Result([Text("\n".join([*lines, "Nothing was changed"]), whole=True)], data=data)


def marked(verb: str, bucket: str, keys: Sequence[str]) -> Result:
    """Keys that were deleted or purged. verb: "deleted" or "purged"."""
    what = f"{bucket} > {keys[0]}" if len(keys) == 1 else f"{plural(len(keys), 'key')} of bucket {bucket}"
    was = "was" if len(keys) == 1 else "were"
    return Result([Text(f"{what} {was} {verb}")], data={"bucket": bucket, "keys": list(keys), verb: True})


def bucket_question(bucket: str, values: int, size: int) -> str:
    """The question before a bucket is removed."""
    return f"Really delete bucket {bucket} ({plural(values, 'value')}, {format_bytes(size)})"


def bucket_dry_run(bucket: str, values: int, size: int) -> Result:
    """`kv del BUCKET --dry-run`."""
    text = f"Would delete bucket {bucket} ({plural(values, 'value')}, {format_bytes(size)})"
    data = {"dry_run": True, "bucket": bucket, "values": values, "bytes": size}
    return Result([Text(f"{text}\nNothing was changed")], data=data)


def bucket_removed(bucket: str) -> Result:
    """A bucket that was removed."""
    return Result([Text(f"Bucket {bucket} was deleted")], data={"bucket": bucket, "deleted": True})


def compacting(bucket: str, keys: int, with_marker: int, *, messages: int | None = None) -> Result:
    """`kv compact`. messages: how many were removed; None for what would be."""
    data: Json = {"bucket": bucket, "keys": keys, "markers": with_marker}
    rest = f" and {plural(with_marker, 'marker')}" if with_marker else ""
    if messages is None:
        text = f"Would remove the earlier values of {plural(keys, 'deleted key')}{rest} of bucket {bucket}"
        return Result([Text(f"{text}\nNothing was changed")], data={"dry_run": True, **data})
    text = f"Removed {plural(messages, 'message')} of {plural(keys, 'deleted key')} of bucket {bucket}"
    return Result([Text(text)], data={**data, "messages": messages})


def imported(bucket: str, values: int, removals: int, *, dry_run: bool) -> Result:
    """`kv import`."""
    data: Json = {"bucket": bucket, "values": values, "markers": removals}
    rest = f" and {plural(removals, 'marker')}" if removals else ""
    if dry_run:
        text = f"Would store {plural(values, 'value')}{rest} in bucket {bucket}\nNothing was changed"
        return Result([Text(text)], data={"dry_run": True, **data})
    return Result([Text(f"Stored {plural(values, 'value')}{rest} in bucket {bucket}")], data=data)


def exported(bucket: str, entries: int, file: str) -> Result:
    """`kv export --output FILE`."""
    data = {"bucket": bucket, "entries": entries, "file": file}
    noun = "entry" if entries == 1 else "entries"
    return Result([Text(f"Wrote {entries:,} {noun} of bucket {bucket} to {file}")], data=data)


def compact_question(bucket: str, keys: int, with_marker: int) -> str:
    """The question before compacting."""
    rest = f", and {plural(with_marker, 'old marker')}," if with_marker else ""
    return f"Really remove the earlier values of {plural(keys, 'deleted key')}{rest} of bucket {bucket}"
