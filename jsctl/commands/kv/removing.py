"""The common parts of del and purge: which keys are meant, the question, and the markers."""

from collections.abc import Sequence

from jsctl.commands.kv.shared import check_found, parse_patterns
from jsctl.env import Env
from jsctl.errors import JsctlError, NotFound
from jsctl.jetstream.kv import read, write
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.kv.entry import DELETE, PURGE, Entry
from jsctl.jetstream.kv.names import is_pattern
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.protection import refuse_denied
from jsctl.views.kv import changes as view
from jsctl.views.result import Result

_VERBS = {DELETE: ("delete", "deleted"), PURGE: ("purge", "purged")}


async def remove_keys(
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
