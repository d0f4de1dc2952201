"""`object ls`, `object status`, and what put, rm and sync did to several objects."""

from collections.abc import Sequence
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from jsctl.base.units import format_bytes, format_duration, join_some, pluralize
from jsctl.errors import ExitStatus
from jsctl.jetstream.api import Json
from jsctl.jetstream.object.buckets import get_bucket
from jsctl.jetstream.object.model import ObjectInfo
from jsctl.jetstream.paging import Collected
from jsctl.views.intent import Intent, file_intent
from jsctl.views.object.object_info import one_object
from jsctl.views.result import Column, Lines, Result, Table, Text, build_table
from jsctl.views.shared.infos import CREATED, DESCRIPTION, SIZE, build_age_column, date_columns
from jsctl.views.shared.tables import unreachable_streams
from jsctl.views.shared.text import transfer_rate

if TYPE_CHECKING:
    from jsctl.jetstream.object.sync import Plan

_BUCKETS = (
    Column("Bucket", "bucket", read=get_bucket),
    DESCRIPTION,
    CREATED,
    SIZE,
    build_age_column("Last Update", "last_update"),
)
_OBJECTS = (
    Column("Name", "name"),
    Column("Size", "size", "bytes"),
    Column("Time", "mtime", "time", read=attrgetter("modified"), hideable=1),
    Column("Link", "link", read=lambda info: str(info.link or "")),
)
_STORED = (
    Column("Name", "name"),
    Column("Size", "size", "bytes"),
    Column("Chunks", "chunks", "count"),
    Column("Digest", "digest"),
)
_STATUS = (
    Column("Bucket", "bucket", read=lambda row: get_bucket(row[0])),
    Column("Objects", "objects", "count", read=itemgetter(1)),
    SIZE._replace(read=lambda row: row[0]["state"]["bytes"]),
    Column("Limit", "max_bytes", "bytes_limit", read=lambda row: row[0]["config"]["max_bytes"], hideable=1),
    Column("TTL", "ttl", "span_limit", read=lambda row: row[0]["config"].get("max_age", 0), hideable=2),
    Column("Replicas", "replicas", "number", read=lambda row: row[0]["config"]["num_replicas"]),
    Column("Sealed", "sealed", "bool", read=lambda row: bool(row[0]["config"].get("sealed"))),
    Column("Unfinished", "unfinished", "count", read=itemgetter(2)),
)
_CHANGES = (Column("Change", "change"), Column("Name", "name"), Column("Size", "size", "bytes"))


def build_bucket_columns(now: float) -> list[Column]:
    """Return the columns of lists of buckets. now: seconds since 1970."""
    return date_columns(_BUCKETS, now)


def buckets(collected: Collected[Json], now: float) -> Result:
    """Show the buckets, smallest first; the document is their names. now: seconds since the epoch."""
    infos = sorted(collected.items.values(), key=lambda info: (info["state"]["bytes"], get_bucket(info)))
    unreachable = unreachable_streams(collected.missing, collected.offline)
    if not infos and not unreachable:
        return Result([Text("No Object Store buckets found")], data=[])
    table = build_table("Object Store Buckets", build_bucket_columns(now), infos)
    return Result([table, *unreachable], data=sorted(map(get_bucket, infos)))


def objects(infos: Sequence[ObjectInfo]) -> Result:
    """Show the objects of a bucket; the document is their descriptions."""
    data = [object_info.data for object_info in infos]
    if not infos:
        return Result([Text("No entries found")], data=data)
    has_links = any(object_info.link for object_info in infos)
    columns = _OBJECTS if has_links else _OBJECTS[:-1]
    table = build_table("Bucket Contents", columns, infos)
    return Result([table], data=data)


def status(rows: Sequence[tuple[Json, int, int]]) -> Result:
    """Show the state of buckets. rows: a bucket's info, its number of objects, and of unfinished puts."""
    if not rows:
        return Result([Text("No Object Store buckets found")], data=[])
    return Result([build_table("Object Store Buckets", _STATUS, rows)])


def stored(infos: Sequence[ObjectInfo]) -> Result:
    """Show what a put stored: the info page of one object, or a table of several."""
    if len(infos) == 1:
        return one_object(infos[0])
    table = build_table("Stored Objects", _STORED, infos)
    return Result([table], data=[object_info.data for object_info in infos])


def put_intent(bucket: str, names: Sequence[str], existing: Sequence[ObjectInfo]) -> Intent:
    """Return the intent to put objects. existing: those of them that are replaced."""
    replaced = {info.name: info for info in existing}
    lines = [
        f"Would replace {bucket} > {name} ({format_bytes(replaced[name].size)})"
        if name in replaced
        else f"Would put {bucket} > {name}"
        for name in names
    ]
    facts = [{"bucket": bucket, "name": name, "replaces": name in replaced} for name in names]
    return Intent(f"put {pluralize(len(names), 'object')} into bucket {bucket}", {"objects": facts}, lines)


def write_intent(object_info: ObjectInfo, path: Path) -> Intent:
    """Return the intent to write an object to a file."""
    description = f"{object_info.bucket} > {object_info.name} ({format_bytes(object_info.size)})"
    facts = {"bucket": object_info.bucket, "name": object_info.name, "size": object_info.size}
    return file_intent(description, path, facts)


def written(object_info: ObjectInfo, path: str, duration: int) -> Result:
    """Show what a get wrote. duration: ns."""
    line = (
        f"Wrote: {format_bytes(object_info.size)} to {path} in {format_duration(duration)} "
        f"average {transfer_rate(object_info.size, duration)}"
    )
    data = {**object_info.data, "path": str(Path(path).absolute()), "duration": duration}
    return Result([Lines([line])], data=data)


def intent(verb: str, infos: Sequence[ObjectInfo]) -> Intent:
    """Return the intent to remove or replace objects. verb: "remove", "replace"."""
    descriptions = [f"{info.bucket} > {info.name} ({format_bytes(info.size)})" for info in infos]
    lines = [f"Would {verb} {info.bucket} > {info.name}, {format_bytes(info.size)}" for info in infos]
    facts = [{"bucket": info.bucket, "name": info.name, "size": info.size} for info in infos]
    return Intent(f"{verb} {join_some(descriptions, 10)}", {"objects": facts}, lines)


def removed(infos: Sequence[ObjectInfo]) -> Result:
    """Show which objects were removed."""
    records = [
        {"bucket": info.bucket, "name": info.name, "size": info.size, "removed": True} for info in infos
    ]
    lines = [f"Removed {info.bucket} > {info.name}" for info in infos]
    return Result([Lines(lines)], data=records[0] if len(records) == 1 else records, is_report=True)


def synced(plan: "Plan", *, dry_run: bool) -> Result:
    """Show what a sync changed, or would change. The status is 1 if something was left out."""
    changes = plan.changes
    reasons = {"left_out": plan.left_out, "kept": plan.preserved, "one_way": plan.one_way}
    data = {
        "dry_run": dry_run,
        "changes": [{"change": change.kind, "name": change.name, "size": change.size} for change in changes],
        "same": plan.same,
        **{
            key: [{"name": name, "reason": reason} for name, reason in names.items()]
            for key, names in reasons.items()
        },
    }
    size = format_bytes(sum(change.size for change in changes if change.kind != "remove"))
    line = f"{pluralize(len(changes), 'change')}, {size}; {pluralize(plan.same, 'file')} the same"
    if plan.left_out:
        line += f"; {len(plan.left_out)} left out"
    if plan.preserved:
        line += f"; {len(plan.preserved)} kept"
    table = Table("Would Change" if dry_run else "Changed", _CHANGES, changes)
    status = ExitStatus.FAILURE if plan.left_out else ExitStatus.OK
    return Result([*([table] if changes else []), Text(line)], data=data, status=status)
