"""`jsctl stream get`."""

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.shared.pick import pick_stream
from jsctl.commands.shared.received import translated
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.payload import shown
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.subjects import is_subject
from jsctl.views.result import Result, Text
from jsctl.views.stream import messages as view


@command(
    "get",
    examples=[
        "jsctl stream get ORDERS 7",
        "jsctl stream get ORDERS --last-for ORDERS.eu --json",
        "jsctl stream get ORDERS 7 --raw > payload",
        "jsctl stream get ORDERS 7 --translate 'jq .'",
    ],
)
@argument("stream", default="")
@argument("id", type=click.IntRange(min=-1), default=-1)
@option("--last-for", "-S", metavar="SUBJECT", default="", help="The newest message on a subject")
@option("--translate", metavar="COMMAND", default="", help="Show the payload as this command translates it")
@option("--raw", is_flag=True, help="Only the payload; in a pipe byte for byte")
async def get(env: Env, stream: str, id: int, last_for: str, translate: str, raw: bool) -> Result | None:
    if id > 0 and last_for:
        raise BadInput("a sequence and --last-for exclude each other")
    api = await env.jetstream()
    name = await pick_stream(env, api, stream)
    await streams.info(api, name)
    if id < 1 and not last_for:
        id, last_for = await _asked(env)
    if last_for and not is_subject(last_for):
        raise BadInput(f"{last_for!r} is no subject")
    found = await (browse.last_for(api, name, last_for) if last_for else browse.at(api, name, id))
    body = found.data
    if translate:
        body = await translated(translate, body, found.subject, name)
    if raw and not env.is_terminal:
        env.write_bytes(body)
        return None
    if raw:
        return Result([Text(shown(body))], data=browse.stored_record(found))
    return view.one(name, found, body, env.clock())


async def _asked(env: Env) -> tuple[int, str]:
    """A sequence, or the subject that the user gives instead."""
    if not env.can_ask:
        raise BadInput("which message is missing", "give ID or --last-for")

    def check(text: str) -> int:
        if not text.lstrip("-").isdigit() or int(text) < -1 or int(text) == 0:
            raise ValueError("a sequence is a positive number; -1 asks for a subject")
        return int(text)

    answer = check(
        await env.prompter.text("Message Sequence to retrieve", flag="ID", default="-1", check=check)
    )
    if answer > 0:
        return answer, ""
    subject = await env.prompter.text("Subject to retrieve last message for", flag="--last-for")
    if not subject:
        raise BadInput("no sequence and no subject was given")
    return 0, subject
