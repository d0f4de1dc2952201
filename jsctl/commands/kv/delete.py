"""`jsctl kv del`."""

from jsctl.commands.cli import argument, command, option
from jsctl.commands.kv.removing import remove_keys
from jsctl.commands.kv.shared import open_named
from jsctl.env import Env
from jsctl.jetstream.kv import bucket as buckets
from jsctl.jetstream.kv.entry import DELETE
from jsctl.views.kv import changes as view
from jsctl.views.result import Result


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
@option("--dry-run", is_flag=True, help="Only show what would be deleted")
@option("--force", "-f", is_flag=True, help="Delete without asking")
async def delete(env: Env, bucket: str, key: tuple[str, ...], dry_run: bool, force: bool) -> Result:
    """Without KEY the whole bucket is deleted. KEY is a key or a pattern: in 'user.*' the * stands for a
    token, in 'user.>' the > for the rest. Earlier values of deleted keys stay as long as the bucket's history
    keeps them; jsctl kv purge removes them, too.
    """
    store = await open_named(env, bucket)
    if key:
        return await remove_keys(env, store, key, DELETE, dry_run=dry_run, force=force)
    state = store.info["state"]
    values, size = int(state["messages"]), int(state["bytes"])
    if dry_run:
        return view.bucket_dry_run(store.name, values, size)
    await env.confirm(view.bucket_question(store.name, values, size), force=force)
    await buckets.delete(store)
    return view.bucket_removed(store.name)
