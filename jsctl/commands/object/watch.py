"""`jsctl object watch`."""

import click

from jsctl.commands.cli import command, option
from jsctl.commands.object.flags import bucket_argument, open_bucket
from jsctl.commands.options.idle import choose_idle_limit, wait_flag
from jsctl.env import Env
from jsctl.jetstream.object import buckets
from jsctl.jetstream.object.model import ObjectInfo
from jsctl.jetstream.object.watch import Watcher
from jsctl.views.events import Events
from jsctl.views.object import watch as view


@command("watch", examples=["jsctl object watch FILES", "jsctl object watch FILES --updates-only --json"])
@bucket_argument()
@option("--updates-only", is_flag=True, help="Leave out the objects that already exist")
@option("--count", type=click.IntRange(min=0), default=0, metavar="N", help="End after N changes")
@wait_flag
async def watch(env: Env, bucket: str, updates_only: bool, count: int, wait: int) -> Events[ObjectInfo]:
    """Show the newest state of each object first, then what changes."""
    api, name = await open_bucket(env, bucket)
    await buckets.fetch_info(api, name)
    watcher = Watcher(api, name, env.say, updates_only=updates_only)
    events = view.events(watcher.read_batches(), limit=count, stop=watcher.stop)
    return events.end_after(choose_idle_limit(env, wait, count))
