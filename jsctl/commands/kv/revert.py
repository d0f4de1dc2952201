"""`jsctl kv revert`."""

from jsctl.base.command_lines import build_line
from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.kv.history import fetch_history
from jsctl.commands.kv.shared import REVISION, open_named
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.kv import read, write
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
@destructive("Revert without asking", no_force=True)
async def revert(env: Env, bucket: str, key: str, revision: int, force: bool) -> Result:
    """Store the value again, as a new revision, if nobody has changed the key meanwhile. jsctl kv history
    shows the revisions.
    """
    key = parse_existing_key(key)
    store = await open_named(env, bucket)
    latest = await read.fetch_newest_entry(store, key)
    if latest is None:
        raise read.missing_key_error(store, key)
    entry = await read.fetch_revision(store, key, revision)
    if not entry.is_value:
        raise BadInput(
            f"revision {revision} of key {key} has no value: it {entry.removal} then",
            f"{build_line('kv del', store.name, key)} deletes it",
        )
    if entry.revision == latest.revision:
        raise BadInput(f"key {key} is already at revision {revision}")
    await env.confirm(changes.revert_intent(store.name, entry, latest), force=force)
    await write.update(store, key, entry.value, latest.revision)
    return view.history(store.name, key, await decode_all(await fetch_history(store, key), None, view.LENS))
