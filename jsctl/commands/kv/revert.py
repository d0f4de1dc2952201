"""`jsctl kv revert`."""

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.kv.history import fetch_history
from jsctl.commands.kv.shared import REVISION, codec_flag, open_named
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.kv import read, write
from jsctl.jetstream.kv.codec import Codec
from jsctl.jetstream.kv.entry import decode_keys
from jsctl.jetstream.kv.names import parse_existing_key
from jsctl.views.kv import changes
from jsctl.views.kv import entries as view
from jsctl.views.message.decoded import decode_all
from jsctl.views.result import Result


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
