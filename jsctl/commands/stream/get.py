"""`jsctl stream get`."""

from dataclasses import dataclass
from typing import Any

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.options.decoding import Decoding, decoding_flags
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.translate import split_command, translate
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.subjects import is_subject
from jsctl.views.events import Events
from jsctl.views.message.decoded import MESSAGES, decode_events
from jsctl.views.stream import messages as view


@dataclass(frozen=True, slots=True)
class Options:
    """The flags. id: a sequence; less than 1 for none."""

    stream: str
    id: int
    last_for: str
    translate: str
    raw: bool
    decoding: Decoding

    def __post_init__(self) -> None:
        if self.id > 0 and self.last_for:
            raise BadInput("a sequence and --last-for cannot be used together")
        if self.translate and self.decoding.is_asked_for:
            raise BadInput("--translate cannot be used with flags that decode")


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
@decoding_flags
async def get(env: Env, options: Options) -> Events[Any]:
    reader = options.decoding.build_reader(env)
    command = split_command(options.translate) if options.translate else []
    api, name = await open_stream(env, options.stream)
    await streams.fetch_info(api, name)
    sequence, subject = options.id, options.last_for
    if sequence < 1 and not subject:
        sequence, subject = await _ask_message(env)
    if subject and not is_subject(subject):
        raise BadInput(f"{subject!r} is not a valid subject")
    message = await (browse.fetch_last(api, name, subject) if subject else browse.fetch(api, name, sequence))
    if command:
        data = await translate(command, message.data, message.subject, name)
        return view.one(name, message, env.clock(), raw=options.raw, data=data)
    shown = view.one(name, message, env.clock(), raw=options.raw)
    return decode_events(shown, reader, MESSAGES)


async def _ask_message(env: Env) -> tuple[int, str]:
    """Ask for a sequence, or for a subject in place of it. Returns 0 or an empty text for the other."""
    if not env.can_ask:
        raise BadInput("no message was named", "specify ID or --last-for")

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
        raise BadInput("neither a sequence nor a subject was given")
    return 0, subject
