"""`jsctl stream rmm`."""

import click

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.message import browse
from jsctl.jetstream.stream import requests as streams
from jsctl.views.result import Result
from jsctl.views.stream import rmm as view


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
@unprotect_flag
@destructive("Remove without asking", "Only show what would be removed", missing_ok=True)
async def rmm(env: Env, stream: str, id: tuple[int, ...], unprotect: tuple[str, ...], force: bool) -> Result:
    api, name = await open_stream(env, stream)
    info = await streams.fetch_info(api, name)
    refuse_protected([info], unprotect)
    sequences = list(dict.fromkeys(id)) or [await _ask_sequence(env)]
    messages = []
    for sequence in sequences:
        try:
            messages.append(await browse.fetch(api, name, sequence))
        except JsctlError as error:
            env.excuse(error)
    if not messages:
        return view.removed(name, [])
    storage = str(info["config"].get("storage", "file"))
    size = sum(browse.compute_stored_size(message, storage) for message in messages)
    if streams.is_internal(name) and not force:
        env.say(f"warning: {name} belongs to a bucket or the system, which may not expect this")
    await env.confirm(view.intent(name, messages, size), force=force)
    for message in messages:
        await streams.delete_message(api, name, message.sequence)
    return view.removed(name, messages)


async def _ask_sequence(env: Env) -> int:
    if not env.can_ask:
        raise BadInput("the message's sequence is missing", "specify ID")

    def check(text: str) -> int:
        if not text.isdigit() or int(text) < 1:
            raise ValueError("a sequence is a positive number")
        return int(text)

    return check(await env.prompter.text("Message Sequence to remove", flag="ID", check=check))
