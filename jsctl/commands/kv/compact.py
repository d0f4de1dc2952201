"""`jsctl kv compact`."""

from contextlib import aclosing

from jsctl.base.units import seconds_to_ns
from jsctl.commands.cli import DURATION, argument, command, destructive, option
from jsctl.commands.kv.shared import open_named
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.kv import compact as compacting
from jsctl.jetstream.kv import read
from jsctl.jetstream.stream.protection import refuse_denied
from jsctl.views.kv import changes as view
from jsctl.views.result import Result


@command(
    "compact",
    examples=["jsctl kv compact CONFIG", "jsctl kv compact CONFIG --older 1s --dry-run"],
)
@argument("bucket")
@option(
    "--older",
    type=DURATION,
    default="30m",
    metavar="DURATION",
    selects=True,
    help="Also remove markers that are older than this (30m)",
)
@unprotect_flag
@destructive("Remove without asking", "Only show what would be removed")
async def compact(env: Env, bucket: str, older: int, unprotect: tuple[str, ...], force: bool) -> Result:
    """Remove the earlier values of deleted keys, and also their markers when they are so old that every
    watcher has seen them: 30 minutes, or --older.
    """
    store = await open_named(env, bucket)
    refuse_protected([store.info], unprotect)
    refuse_denied([store.info])
    if mirror := store.config.get("mirror"):  # what is removed there comes back, or stays missing
        raise BadInput(f"bucket {store.name} is a mirror", f"compact its origin {mirror['name']}")
    newest_entries = await read.fetch_newest_heads(store, [">"])
    removals = compacting.plan_removals(newest_entries, seconds_to_ns(env.clock()) - older)
    old = sum(removal.with_marker for removal in removals)
    if not removals and not env.dry_run:
        return view.compacted(store.name, 0, 0, messages=0)
    await env.confirm(view.compact_intent(store.name, len(removals), old), force=force)
    removed = 0
    with env.progress("Compacting", len(removals)) as advance:
        async with aclosing(compacting.remove(store, newest_entries, removals)) as steps:
            async for keys, messages in steps:
                removed += messages
                advance(keys)
    return view.compacted(store.name, len(removals), old, messages=removed)
