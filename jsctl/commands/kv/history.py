"""`jsctl kv history` and `revert`."""

from contextlib import aclosing
from typing import TYPE_CHECKING

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.kv.shared import REVISION, check_found, codec_flag, open_named
from jsctl.commands.options.decoding import Decoding, decoding_flags, match_flag
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.kv import read, write
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.kv.codec import Codec
from jsctl.jetstream.kv.entry import Entry, decode_keys
from jsctl.jetstream.kv.names import is_pattern, parse_existing_key, parse_key_pattern
from jsctl.views.kv import changes
from jsctl.views.kv import entries as view
from jsctl.views.message.decoded import decode_all
from jsctl.views.result import Result

if TYPE_CHECKING:
    from jsctl.jetstream.find.expression import Condition


@command(
    "history",
    columns=(),
    examples=["jsctl kv history CONFIG user.1", "jsctl kv history CONFIG 'user.*' --json"],
)
@argument("bucket")
@argument("key")
@codec_flag
@match_flag
@decoding_flags
async def history(
    env: Env, bucket: str, key: str, codec: Codec, condition: "Condition | None", decoding: Decoding
) -> Result:
    """Show the oldest first, with the markers of deleted keys, and the reason if the server gave one. KEY may
    be a pattern: in 'user.*' the * stands for one token, in 'user.>' the > for the rest.
    """
    reader = decoding.build_reader(env, condition)
    pattern = parse_key_pattern(key, codec)
    store = await open_named(env, bucket, codec=codec)
    seen = await decode_all(decode_keys(store, await fetch_history(store, pattern)), reader, view.LENS)
    if reader is not None and (summary := reader.summarize()):
        env.say(summary)
    return view.history(store.name, key, seen)


async def fetch_history(store: Bucket, pattern: str) -> list[Entry]:
    """Return all entries of the keys that match. Raises NotFound if there are none."""
    entries: list[Entry] = []
    async with aclosing(read.fetch_history(store, pattern)) as pages:
        async for page in pages:
            entries += page
    if not entries:
        if not is_pattern(pattern):
            raise read.missing_key_error(store, pattern)
        check_found(store, [pattern], {entry.key for entry in entries})
    return entries


@command(
    "revert",
    examples=["jsctl kv revert CONFIG user.1 5", "jsctl kv revert CONFIG user.1 5 --force"],
)
@argument("bucket")
@argument("key")
@argument("revision", type=REVISION)
@codec_flag
@destructive("Revert without asking", no_force=True)
async def revert(env: Env, bucket: str, key: str, revision: int, codec: Codec, force: bool) -> Result:
    """Store the value again, as a new revision, if nobody has changed the key meanwhile. jsctl kv history
    shows the revisions.
    """
    stored = parse_existing_key(key, codec)
    store = await open_named(env, bucket, codec=codec)
    latest = await read.fetch_newest_entry(store, stored)
    if latest is None:
        raise read.missing_key_error(store, stored)
    entry = await read.fetch_revision(store, stored, revision)
    if not entry.is_value:
        raise BadInput(
            f"revision {revision} of key {key} has no value: it {entry.removal} then",
            f"{store.build_key_line('kv del', stored)} deletes it",
        )
    if entry.revision == latest.revision:
        raise BadInput(f"key {key} is already at revision {revision}")
    await env.confirm(changes.revert_intent(store.name, decode_keys(store, [entry])[0], latest), force=force)
    await write.update(store, stored, entry.value, latest.revision)
    entries = decode_keys(store, await fetch_history(store, stored))
    return view.history(store.name, store.decode_key(stored), await decode_all(entries, None, view.LENS))
