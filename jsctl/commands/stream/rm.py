"""`jsctl stream rm`."""

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.options.protection import refuse_unknown, unprotect_flag
from jsctl.commands.picking.pick import pick_streams
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.message.removal import delete_streams, estimate_deletions
from jsctl.views.result import Result
from jsctl.views.stream import removal as view


@command(
    "rm",
    examples=[
        "jsctl stream rm ORDERS",
        "jsctl stream rm ORDERS --force",
        "jsctl stream rm 'LOGS_*' OLD --dry-run",
    ],
)
@argument("stream", nargs=-1)
@unprotect_flag
@destructive("Remove without asking", "Only show what would be removed", missing_ok=True)
async def rm(env: Env, stream: tuple[str, ...], unprotect: tuple[str, ...], force: bool) -> Result:
    """Ask once, however many names and patterns are given."""
    if force and not stream:
        raise BadInput("--force needs the stream's name", "specify STREAM")
    api = await env.jetstream()
    names = await pick_streams(env, api, stream)
    refuse_unknown(unprotect, names)
    if env.dry_run or not force:
        losses = await estimate_deletions(api, names, unprotect)
        await env.confirm(view.intent("delete", losses), force=force)
    await delete_streams(api, names, lambda deleted: env.say(view.removed_lines(deleted)), unprotect)
    return view.removed(names)
