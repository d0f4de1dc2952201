"""`jsctl stream rmm`."""

from collections.abc import Sequence

import click

from jsctl.base.units import format_bytes, pluralize
from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.api import Json
from jsctl.jetstream.message import browse
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.protection import refuse_denied
from jsctl.nats.message import Message
from jsctl.views.intent import Intent
from jsctl.views.result import Result, report


def _show_intent(stream: str, messages: Sequence[Message], size: int) -> Intent:
    """Return the intent to remove messages. size: bytes of the messages."""
    description = f"{pluralize(len(messages), 'message')}, {format_bytes(size)}"
    lines = [f"Would remove from Stream {stream}: {description}"]
    lines += [f"  {message.sequence}  {message.subject}" for message in messages]
    if len(messages) == 1:
        description = f"message {messages[0].sequence} ({messages[0].subject}, {format_bytes(size)})"
    facts = {"stream": stream, "bytes": size, "messages": _list_records(stream, messages, removed=False)}
    return Intent(f"remove {description} from Stream {stream}", facts, lines)


def _show_removed(stream: str, messages: Sequence[Message]) -> Result:
    """Return which messages were removed."""
    label = f"message {messages[0].sequence}" if len(messages) == 1 else pluralize(len(messages), "message")
    return report(f"Removed {label} from Stream {stream}", _list_records(stream, messages, removed=True))


def _list_records(stream: str, messages: Sequence[Message], *, removed: bool) -> list[Json]:
    return [
        {"stream": stream, "sequence": message.sequence, "subject": message.subject, "removed": removed}
        for message in messages
    ]


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
    refuse_denied([info], "deny_delete")
    sequences = list(dict.fromkeys(id)) or [await _ask_sequence(env)]
    messages = []
    for sequence in sequences:
        try:
            messages.append(await browse.fetch(api, name, sequence))
        except JsctlError as error:
            env.report_missing(error)
    if not messages:
        return _show_removed(name, [])
    storage = str(info["config"].get("storage", "file"))
    size = sum(browse.compute_stored_size(message, storage) for message in messages)
    if streams.is_internal(name) and not force:
        env.say(f"warning: {name} belongs to a bucket or the system, which may not expect this")
    await env.confirm(_show_intent(name, messages, size), force=force)
    for message in messages:
        await streams.delete_message(api, name, message.sequence)
    return _show_removed(name, messages)


async def _ask_sequence(env: Env) -> int:
    if not env.can_ask:
        raise BadInput("the message's sequence is missing", "specify ID")

    def check(text: str) -> int:
        if not text.isdigit() or int(text) < 1:
            raise ValueError("a sequence is a positive number")
        return int(text)

    return check(await env.prompter.text("Message Sequence to remove", flag="ID", check=check))
