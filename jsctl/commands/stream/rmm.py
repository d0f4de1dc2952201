"""`jsctl stream rmm`."""

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.shared.pick import pick_stream
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.message import browse
from jsctl.jetstream.stream import requests as streams
from jsctl.units import format_bytes
from jsctl.views.result import Result, Text
from jsctl.views.shared.text import plural


@command(
    "rmm",
    examples=[
        "jsctl stream rmm ORDERS 7",
        "jsctl str rmm ORDERS 1 -f",
        "jsctl stream rmm ORDERS 7 --dry-run",
    ],
)
@argument("stream", default="")
@argument("id", type=click.IntRange(min=1), nargs=-1)
@option("--dry-run", is_flag=True, help="Only say what would go")
@option("--force", "-f", is_flag=True, help="Remove without asking")
async def rmm(env: Env, stream: str, id: tuple[int, ...], dry_run: bool, force: bool) -> Result:
    api = await env.jetstream()
    name = await pick_stream(env, api, stream)
    info = await streams.info(api, name)
    wanted = list(dict.fromkeys(id)) or [await _asked(env)]
    found = [await browse.at(api, name, sequence) for sequence in wanted]
    storage = str(info["config"].get("storage", "file"))
    size = sum(browse.stored_size(message, storage) for message in found)
    amount = f"{plural(len(found), 'message')}, {format_bytes(size)}"
    data = [
        {"stream": name, "sequence": message.sequence, "subject": message.subject, "removed": not dry_run}
        for message in found
    ]
    if dry_run:
        listed = "\n".join(f"  {message.sequence}  {message.subject}" for message in found)
        return Result(
            [Text(f"Would remove from Stream {name}: {amount}\n{listed}\nNothing was changed")], data
        )
    if streams.is_internal(name) and not force:
        env.say(f"warning: {name} belongs to a bucket or the system, which may not expect this")
    which = f"message {wanted[0]} ({found[0].subject}, {format_bytes(size)})" if len(found) == 1 else amount
    await env.confirm(f"Really remove {which} from Stream {name}", force=force)
    for sequence in wanted:
        await api.call(f"STREAM.MSG.DELETE.{name}", {"seq": sequence})
    told = f"message {wanted[0]}" if len(found) == 1 else plural(len(found), "message")
    return Result([Text(f"Removed {told} from Stream {name}")], data=data)


async def _asked(env: Env) -> int:
    if not env.can_ask:
        raise BadInput("the message's sequence is missing", "give ID")

    def check(text: str) -> int:
        if not text.isdigit() or int(text) < 1:
            raise ValueError("a sequence is a positive number")
        return int(text)

    return check(await env.prompter.text("Message Sequence to remove", flag="ID", check=check))
