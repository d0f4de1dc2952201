"""`jsctl object watch`."""

import click

from jsctl.base.units import format_bytes, format_time, pluralize
from jsctl.commands.cli import command, option
from jsctl.commands.object.flags import bucket_argument, open_bucket
from jsctl.commands.options.idle import choose_idle_limit, wait_flag
from jsctl.env import Env
from jsctl.jetstream.message.receive import receive_stored
from jsctl.jetstream.object import buckets
from jsctl.jetstream.object.model import ObjectInfo, build_info_filter, decode_info
from jsctl.nats.message import Message
from jsctl.views.events import End, Events, Presentation


def _show_text(object_info: ObjectInfo) -> str:
    """Return one line: `[2026-11-21 13:00:04] PUT B > report.pdf: 1.0 KiB in 1 chunk`."""
    label = f"{object_info.bucket} > {object_info.name}"
    if object_info.is_deleted:
        return f"[{format_time(object_info.modified)}] DEL {label}"
    if object_info.link is not None:
        return f"[{format_time(object_info.modified)}] LINK {label}: to {object_info.link}"
    size = f"{format_bytes(object_info.size)} in {pluralize(object_info.chunks, 'chunk')}"
    return f"[{format_time(object_info.modified)}] PUT {label}: {size}"


@command("watch", examples=["jsctl object watch FILES", "jsctl object watch FILES --updates-only --json"])
@bucket_argument()
@option("--updates-only", is_flag=True, help="Leave out the objects that already exist")
@option("--count", type=click.IntRange(min=0), default=0, metavar="N", help="End after N changes")
@wait_flag
async def watch(env: Env, bucket: str, updates_only: bool, count: int, wait: int) -> Events[ObjectInfo]:
    """Show the newest state of each object first, then what changes."""
    api, name = await open_bucket(env, bucket)
    config = (await buckets.fetch_info(api, name))["config"]
    start = {"deliver_policy": "new" if updates_only else "last_per_subject"}
    receiver = receive_stored(api, config, [build_info_filter(name)], start)

    def decode(message: Message) -> ObjectInfo | None:
        object_info = decode_info(name, message)
        if object_info.damage:
            env.say(f"jsctl: {object_info.damage}")
        return None if object_info.damage else object_info

    events = Events(
        batches=receiver.read_decoded(decode),
        shown=Presentation(
            text=lambda object_info: _show_text(object_info) + "\n",
            record=lambda object_info: object_info.data,
        ),
        end=End(limit=count, noun="change", endless=True, stop=receiver.stop),
    )
    return events.end_after(choose_idle_limit(env, wait, count))
