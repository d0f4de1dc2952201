"""`jsctl kv ls`."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from operator import attrgetter

from jsctl.commands.cli import argument, command, option
from jsctl.commands.kv.shared import (
    at_flag,
    codec_flag,
    open_named,
    parse_at,
    parse_patterns,
    refuse_codec,
    warn_of_unknown,
)
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.kv import bucket as buckets
from jsctl.jetstream.kv import read
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.kv.codec import Codec
from jsctl.jetstream.kv.entry import Entry, decode_keys
from jsctl.jetstream.kv.names import is_pattern
from jsctl.views.events import Events, names
from jsctl.views.kv import entries as view
from jsctl.views.kv import info
from jsctl.views.result import Result


@command(
    "ls",
    columns=(),
    examples=[
        "jsctl kv ls",
        "jsctl kv ls CONFIG",
        "jsctl kv ls CONFIG 'user.*' --verbose --display-value",
        "jsctl kv ls CONFIG --at 2026-11-21T06:57:05Z",
        "jsctl kv ls FILES '/etc/>' --codec path",
    ],
)
@argument("bucket", default="")
@argument("key", nargs=-1)
@option("--names", "-n", "names_only", is_flag=True, help="Only names, one per line")
@option("--verbose", "-v", is_flag=True, help="Show when each key was stored, its revision and its size")
@option("--display-value", is_flag=True, help="Show values, too; needs --verbose")
@at_flag("The keys that had a value at this time, or this long ago: 2h")
@codec_flag
async def ls(
    env: Env,
    bucket: str,
    key: tuple[str, ...],
    names_only: bool,
    verbose: bool,
    display_value: bool,
    at: str,
    codec: Codec,
) -> Result | Events[str]:
    """Show the keys that match KEY, a key or a pattern: in 'user.*' the * stands for one token, in 'user.>'
    the > for the rest. Deleted keys are left out; jsctl kv history shows them. With --at, warnings say which
    keys may have had a value that is gone.
    """
    if at and not bucket:
        raise BadInput("--at is for the keys of a bucket", "specify BUCKET")
    time = parse_at(env, at) if at else None
    api = await env.jetstream()
    if not bucket:
        refuse_codec(codec, "BUCKET")
        if names_only:
            return names(_split_pages(sorted(await buckets.list_names(api))))
        return info.listing(await buckets.collect(api), env.clock())
    store = await open_named(env, bucket, api, codec)
    patterns = parse_patterns(env, key, codec)
    with_values = verbose and display_value and not names_only
    if time is not None:
        stored = await _list_past_entries(env, store, patterns, time)
    else:
        stored = await _list_entries(store, patterns, with_values=with_values)
    entries = decode_keys(store, stored)
    if codec:
        entries = sorted(entries, key=attrgetter("key"))
    if not entries:
        condition = f" that match {', '.join(key)}" if key else ""
        env.inform(f"jsctl: no keys{condition} in bucket {store.name}")
    if not verbose or names_only:
        return names(_split_pages([entry.key for entry in entries]))
    return view.keys(store.name, entries, with_values=with_values) if entries else Result([], data=[])


async def _list_entries(store: Bucket, patterns: Sequence[str], *, with_values: bool) -> list[Entry]:
    """Return the keys that have a value. Raises NotFound for a named key that has none."""
    entries: list[Entry] = []
    if with_values:
        async with aclosing(read.fetch_newest_entries(store, patterns)) as pages:
            async for page in pages:
                entries += page
    else:
        entries = await read.fetch_newest_heads(store, patterns)
    entries = [entry for entry in entries if entry.is_value]
    if keys := [pattern for pattern in patterns if not is_pattern(pattern)]:
        existing = {entry.key for entry in entries}
        for key in keys:
            if key not in existing:
                await read.get(store, key)
    return entries


async def _list_past_entries(env: Env, store: Bucket, patterns: Sequence[str], time: int) -> list[Entry]:
    """Return the keys that are known to have had a value at a time (ns since 1970)."""
    from jsctl.jetstream.kv.past import fetch_past, get_value

    past = await fetch_past(store, patterns, time)
    warn_of_unknown(env, store, past)
    for key in patterns:
        if not is_pattern(key):
            get_value(store, past, key)
    return list(past.values.values())


async def _split_pages(items: Sequence[str]) -> AsyncIterator[Sequence[str]]:
    for start in range(0, len(items), 1000):
        yield items[start : start + 1000]
