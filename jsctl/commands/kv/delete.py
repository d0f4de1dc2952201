"""`jsctl kv del` and `purge`."""

from collections.abc import Sequence

from jsctl.commands.cli import DURATION, argument, command, destructive, option
from jsctl.commands.kv.shared import (
    check_found,
    codec_flag,
    open_named,
    parse_patterns,
    refuse_codec,
    warn_of_ttl,
)
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.env import Env
from jsctl.errors import JsctlError, NotFound
from jsctl.jetstream.kv import read, write
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.kv.codec import Codec
from jsctl.jetstream.kv.entry import DELETE, PURGE, Entry
from jsctl.jetstream.kv.names import is_pattern
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.protection import refuse_denied
from jsctl.views.kv import changes as view
from jsctl.views.result import Result

_VERBS = {DELETE: ("delete", "deleted"), PURGE: ("purge", "purged")}


@command(
    "del",
    examples=[
        "jsctl kv del CONFIG user.1",
        "jsctl kv del CONFIG 'user.*' --dry-run",
        "jsctl kv del CONFIG --force",
    ],
)
@argument("bucket")
@argument("key", nargs=-1)
@codec_flag
@unprotect_flag
@destructive("Delete without asking", "Only show what would be deleted", missing_ok=True)
async def delete(
    env: Env, bucket: str, key: tuple[str, ...], codec: Codec, unprotect: tuple[str, ...], force: bool
) -> Result:
    """Delete KEY, or the whole bucket without KEY. KEY is a key or a pattern: in 'user.*' the * stands for
    one token, in 'user.>' the > for the rest. Earlier values of deleted keys stay as long as the bucket's
    history keeps them; jsctl kv purge removes them, too. A key that does not exist, or is deleted
    already, is an error with status 3, but not with --force.
    """
    store = await open_named(env, bucket, codec=codec)
    refuse_protected([store.info], unprotect)
    if key:
        return await _remove_keys(env, store, key, DELETE, force=force)
    refuse_codec(codec)
    state = store.info["state"]
    values, size = int(state["messages"]), int(state["bytes"])
    await env.confirm(view.bucket_intent(store.name, values, size), force=force)
    await streams.delete(store.api, store.stream)
    return view.bucket_removed(store.name)


@command(
    "purge",
    examples=[
        "jsctl kv purge CONFIG user.1",
        "jsctl kv purge CONFIG 'user.*' --dry-run",
        "jsctl kv purge CONFIG 'user.>' --force",
    ],
)
@argument("bucket")
@argument("key", nargs=-1, required=True)
@option("--ttl", type=DURATION, default=0, metavar="DURATION", help="How long the marker stays: 30s, 2h")
@codec_flag
@unprotect_flag
@destructive("Purge without asking", "Only show what would be purged", missing_ok=True)
async def purge(
    env: Env,
    bucket: str,
    key: tuple[str, ...],
    ttl: int,
    codec: Codec,
    unprotect: tuple[str, ...],
    force: bool,
) -> Result:
    """Replace all values of a key with a marker. KEY is a key or a pattern; '>' means all keys. --ttl needs a
    bucket with --marker-ttl.
    """
    header = write.format_ttl(ttl)
    store = await open_named(env, bucket, codec=codec)
    refuse_protected([store.info], unprotect)
    result = await _remove_keys(env, store, key, PURGE, force=force, ttl=header)
    warn_of_ttl(env, store, ttl)
    return result


async def _remove_keys(
    env: Env,
    bucket: Bucket,
    keys: Sequence[str],
    operation: str,
    *,
    force: bool,
    ttl: str = "",
) -> Result:
    """Delete or purge the keys that are named or match. Raises NotFound, also for keys already deleted; with
    `force`, as in the `nats` tool, a key that was never stored gets a marker, too.
    """
    verb, done = _VERBS[operation]
    refuse_denied([bucket.info])
    names = await _list_removable_keys(env, bucket, keys, operation, force=force)
    if not names:
        return view.marked(done, bucket.name, [])
    shown = list(map(bucket.decode_key, names))
    counts = None
    if operation == PURGE and (env.dry_run or not force):
        counts = await _count_values(env, bucket, keys, names)
    await env.confirm(view.intent(verb, bucket.name, shown, counts), force=force)
    with env.progress(f"{verb.capitalize()[:-1]}ing", len(names)) as advance:
        await write.mark_all(bucket, names, operation, ttl, advance)
    return view.marked(done, bucket.name, shown)


async def _count_values(env: Env, bucket: Bucket, keys: Sequence[str], names: Sequence[str]) -> list[int]:
    """Return how many messages the stream stores of each key of `names`, which `keys` name or match."""
    stored: dict[str, int] = {}
    for pattern in parse_patterns(env, keys, bucket.codec):
        stored |= await streams.count_subjects(bucket.api, bucket.stream, bucket.prefix + pattern)
    return [stored.get(bucket.prefix + name, 0) for name in names]


async def _list_removable_keys(
    env: Env, bucket: Bucket, keys: Sequence[str], operation: str, *, force: bool
) -> list[str]:
    """Return the keys that have something to remove."""
    patterns = parse_patterns(env, keys, bucket.codec)
    globs = [pattern for pattern in patterns if is_pattern(pattern)]
    literal = [pattern for pattern in patterns if not is_pattern(pattern)]
    names: dict[str, None] = {}
    for key in literal:
        try:
            if not force:
                await _check_removable(bucket, key, operation)
            names[key] = None
        except JsctlError as error:
            env.report_missing(error)
    if globs:
        entries = [
            head for head in await read.fetch_newest_heads(bucket, globs) if _is_removable(head, operation)
        ]
        try:
            check_found(bucket, globs, {entry.key for entry in entries})
        except NotFound as error:
            env.report_missing(error)
        names.update(dict.fromkeys(entry.key for entry in entries))
    return list(names)


async def _check_removable(bucket: Bucket, key: str, operation: str) -> None:
    """Raise NotFound for a key without anything to remove."""
    entry = await read.fetch_newest_entry(bucket, key)
    if entry is None:
        raise read.missing_key_error(bucket, key)
    if not _is_removable(entry, operation):
        await read.get(bucket, key)


def _is_removable(entry: Entry, operation: str) -> bool:
    """Return whether there is something to delete (a value) or to purge (a value, or earlier ones below a
    marker).
    """
    return entry.is_value or (operation == PURGE and entry.operation == DELETE)
