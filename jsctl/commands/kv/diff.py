"""`jsctl kv diff`."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Literal, NamedTuple

from jsctl.base.loops import gather
from jsctl.base.units import format_time, pluralize
from jsctl.commands.cli import argument, command, option
from jsctl.commands.kv.shared import (
    at_flag,
    codec_flag,
    open_named,
    parse_at,
    parse_patterns,
    warn_of_unknown,
)
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus
from jsctl.jetstream.api import Json
from jsctl.jetstream.identity import are_same
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.kv.codec import Codec
from jsctl.jetstream.kv.entry import Entry
from jsctl.jetstream.kv.past import fetch_past
from jsctl.jetstream.kv.read import fetch_newest_entries
from jsctl.jetstream.message.payload import encode_field
from jsctl.views.kv.value import short_value
from jsctl.views.result import Cell, Column, Part, Result, Style, Table, Text

Change = Literal["added", "removed", "changed"]


class KeyDifference(NamedTuple):
    """A key whose values differ. before: in the first bucket, after: in the second; None if it has none."""

    key: str
    before: Entry | None
    after: Entry | None

    @property
    def change(self) -> Change:
        """How the second bucket differs: added, removed or changed."""
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"


def compare(first: Mapping[str, Entry], second: Mapping[str, Entry]) -> tuple[list[KeyDifference], int]:
    """Return the keys whose values differ, sorted, and the number of those with equal values. Revisions and
    times do not matter."""
    differing = []
    for key in sorted(first.keys() | second.keys()):
        before, after = first.get(key), second.get(key)
        if before is None or after is None or before.value != after.value:
            differing.append(KeyDifference(key, before, after))
    return differing, len(first.keys() | second.keys()) - len(differing)


async def fetch_values(bucket: Bucket, patterns: Sequence[str]) -> dict[str, Entry]:
    """Return the newest values of the keys that match; deleted keys are missing."""
    entries: dict[str, Entry] = {}
    async with aclosing(fetch_newest_entries(bucket, patterns)) as pages:
        async for page in pages:
            entries.update((entry.key, entry) for entry in page if entry.is_value)
    return entries


_STYLES: dict[str, Style] = {"added": "good", "removed": "bad", "changed": "warn"}


def _show_differences(
    first: str,
    second: str,
    differing: Sequence[KeyDifference],
    same: int,
    unknown: Sequence[str] | None,
) -> Result:
    """Show what differs between two buckets, by key. same: number of keys with the same value in both.
    unknown: keys that are not compared, as their values at a time are gone; None without a time."""
    data: Json = {
        "same": same,
        "differences": [
            {
                "key": difference.key,
                "change": difference.change,
                "before": _build_side(difference, 0),
                "after": _build_side(difference, 1),
            }
            for difference in differing
        ],
    }
    if unknown is not None:
        data["unknown"] = unknown
    rest = f"; {pluralize(len(unknown), 'other key')} cannot be compared" if unknown else ""
    if not differing:
        status = ExitStatus.FAILURE if unknown else ExitStatus.OK
        text = f"{first} and {second} hold the same values ({same:,} of them){rest}"
        return Result([Text(text)], data=data, status=status)
    columns = (
        Column("Key", "key"),
        Column("Change", "change"),
        Column(first, "before", "prose", is_payload=True),
        Column(second, "after", "prose", is_payload=True),
    )
    rows = [
        (
            difference.key,
            Cell(difference.change, difference.change, _STYLES[difference.change]),
            *(short_value(entry) if entry else None for entry in (difference.before, difference.after)),
        )
        for difference in differing
    ]
    counts = ", ".join(
        f"{sum(difference.change == change for difference in differing):,} {change}" for change in _STYLES
    )
    parts: list[Part] = [
        Table(f"Differences of {first} and {second}", columns, rows),
        Text(f"{counts}, {same:,} the same{rest}"),
    ]
    return Result(parts, data=data, status=ExitStatus.DIFFERENT)


def _build_side(difference: KeyDifference, side: int) -> Json | None:
    entry = (difference.before, difference.after)[side]
    return {"revision": entry.revision, **encode_field("value", entry.value)} if entry else None


@command(
    "diff",
    columns=(),
    examples=[
        "jsctl kv diff CONFIG CONFIG_OLD",
        "jsctl kv diff CONFIG CONFIG@leaf",
        "jsctl kv diff CONFIG CONFIG --from-context east --to-context west",
        "jsctl kv diff CONFIG CONFIG_OLD 'user.*' --json",
        "jsctl kv diff CONFIG --at 2h",
        "jsctl kv diff CONFIG CONFIG 'user.*' --at 2h --to-at 1h",
    ],
)
@argument("bucket")
@argument("other", noun="bucket", metavar="BUCKET", required=False, default="")
@argument("keys", metavar="[KEY]...", nargs=-1, completes="key")
@at_flag("Compare the first bucket as it was at this time, or this long ago: 2h")
@at_flag("Compare the second bucket as it was then, instead of now", "--to-at")
@option("--from-context", metavar="NAME", default="", noun="context", help="Context of the first bucket")
@option("--to-context", metavar="NAME", default="", noun="context", help="Context of the second bucket")
@option("--from-domain", metavar="DOMAIN", default=None, help="JetStream domain of the first bucket")
@option("--to-domain", metavar="DOMAIN", default=None, help="JetStream domain of the second bucket")
@codec_flag
async def diff(
    env: Env,
    bucket: str,
    other: str,
    keys: tuple[str, ...],
    at: str,
    to_at: str,
    from_context: str,
    to_context: str,
    from_domain: str | None,
    to_domain: str | None,
    codec: Codec,
) -> Result:
    """Compare the newest values of all keys, or of those that match KEY; deleted keys count as missing.
    NAME@DOMAIN is a bucket of another JetStream domain. With --at, one bucket is compared with itself as it
    was; the exit status is 1 if nothing differs, and what some keys were cannot be known.
    """
    if not other and not at:
        raise BadInput("the second bucket is missing", "specify BUCKET twice, or --at TIME")
    times = [parse_at(env, text, flag) if text else None for text, flag in ((at, "--at"), (to_at, "--to-at"))]
    patterns = parse_patterns(env, keys, codec)
    first = await _open_bucket(env, bucket, from_context, from_domain, codec)
    second = await _open_bucket(env, other or bucket, to_context, to_domain, codec)
    stores = zip((first, second), times, strict=True)
    sides = await gather(_fetch_side(env, store, patterns, time) for store, time in stores)
    unknown = sorted({key for side in sides for key in side.unknown})
    values = [{key: entry for key, entry in side.values.items() if key not in unknown} for side in sides]
    differing, same = compare(*values)
    differing = [each._replace(key=first.decode_key(each.key)) for each in differing]
    unknown = list(map(first.decode_key, unknown))
    label = _format_label(bucket, from_context, from_domain, times[0])
    other_label = _format_label(other or bucket, to_context, to_domain, times[1])
    other_label += " now" if times[1] is None and not other else ""
    if label == other_label:
        label, other_label = f"{label} (first)", f"{other_label} (second)"
    is_now = times == [None, None]
    if not differing and is_now and first.name == second.name and await are_same([first.api, second.api]):
        other_label += ", the same bucket,"
    return _show_differences(label, other_label, differing, same, unknown if any(times) else None)


class _Side(NamedTuple):
    """The values of one bucket, and the keys of which it cannot be known whether they had one."""

    values: Mapping[str, Entry]
    unknown: Sequence[str] = ()


async def _fetch_side(env: Env, store: Bucket, patterns: Sequence[str], time: int | None) -> _Side:
    if time is None:
        return _Side(await fetch_values(store, patterns))
    past = await fetch_past(store, patterns, time)
    warn_of_unknown(env, store, past)
    return _Side(past.values, past.unknown)


async def _open_bucket(env: Env, text: str, context: str, domain: str | None, codec: Codec) -> Bucket:
    name, mark, name_domain = text.partition("@")
    api = await env.jetstream(context or None, name_domain if mark else domain)
    return await open_named(env, name, api, codec)


def _format_label(name: str, context: str, domain: str | None, time: int | None) -> str:
    bucket = name if "@" in name or not domain else f"{name}@{domain}"
    bucket = f"{bucket} of {context}" if context else bucket
    return f"{bucket} at {format_time(time)}" if time is not None else bucket
