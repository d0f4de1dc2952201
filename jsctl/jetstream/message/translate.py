"""Payloads translated by a command of the user (`--translate`)."""

import shlex
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from jsctl.errors import BadInput
from jsctl.jetstream.message.receive import Received
from jsctl.jetstream.message.user_command import run_command
from jsctl.nats.codec import MAX_PAYLOAD


def split_command(command: str) -> list[str]:
    """Split a command line into words, as a shell does. Raises BadInput."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadInput(f"{command!r} is not a valid command: {str(error).lower()}") from None
    if not words:
        raise BadInput("the command is empty")
    return words


async def translate(command: Sequence[str], data: bytes, subject: str = "", stream: str = "") -> bytes:
    """Pass `data` through a command; return what it writes to stdout and stderr.

    `{{Subject}}` and `{{Stream}}` are filled in after the command was split into words, so that no subject
    can add words. Raises BadInput when the command cannot be run, writes more than a message can hold or
    takes too long.
    """
    words = [word.replace("{{Subject}}", subject).replace("{{Stream}}", stream) for word in command]
    output = await run_command(words, MAX_PAYLOAD, stdin=data, with_stderr=True)
    if not output.did_run:
        raise BadInput(output.failure)
    return output.data


async def translate_messages(
    batches: AsyncGenerator[Sequence[Received], None], command: Sequence[str]
) -> AsyncGenerator[Sequence[Received], None]:
    """Yield the messages with translated data, one after the other. A matched reply stays as it is."""
    async with aclosing(batches):
        async for batch in batches:
            for received in batch:
                message = received.message
                stream = message.metadata.stream if message.metadata else ""
                data = await translate(command, message.data, message.subject, stream)
                yield [received._replace(message=message.with_data(data))]
