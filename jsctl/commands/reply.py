"""`jsctl reply`."""

import asyncio
import os
import random
import re
import shlex
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError, Unreachable
from jsctl.jetstream.message import publish
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from jsctl.nats.events import Closed, ConnectionEvent, PermissionDenied
from jsctl.nats.headers import encode_headers, parse_headers
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.subjects import validate_subject
from jsctl.nats.templates import Moment, Template, compile_template
from jsctl.render.text import clean_lines
from jsctl.signals import interrupts
from jsctl.units import SECOND
from jsctl.views.message import messages as view

HELP = """\
The answer is BODY, a template as in `jsctl publish --help` with {{Request}} for the request's payload; with
--echo the request itself; or what a command says on stdout. In a command, {{0}}, {{1}} ... are the tokens of
the request's subject and {{Request}} its payload. They are filled in after the command was split into words:
a request cannot add words, and no shell reads them. The command finds both in NATS_REQUEST_SUBJECT and
NATS_REQUEST_BODY as well. Where it fails, the reply says so in its headers.

Several repliers in one queue group share the requests; one with --weight 3 gets three times as many.
"""


@dataclass(frozen=True, slots=True)
class Answers:
    """How requests are answered. sleep: ns at the most."""

    body: Template
    headers: Sequence[tuple[str, Template]]
    echo: bool
    command: Sequence[str]
    sleep: int


@command(
    "reply",
    help=HELP,
    examples=[
        "jsctl reply echo --echo",
        "jsctl reply time '{{TimeStamp}}' --count 10",
        "jsctl reply 'weather.*' --command 'curl -s wttr.in/{{1}}?format=3'",
    ],
)
@argument("subject")
@argument("body", required=False, default="")
@option("--echo", is_flag=True, help="Answer with the request")
@option("--command", metavar="COMMAND", default="", help="Answer with what a command says")
@option("--queue", "-q", metavar="GROUP", default="NATS-RPLY-22", help="Queue group (NATS-RPLY-22)")
@option("--weight", type=int, default=1, metavar="N", help="Take so many shares of the group's requests (1)")
@option("--sleep", type=DURATION, default=0, metavar="MAX", help="Wait up to so long before an answer")
@option("--header", "-H", "headers", metavar="K:V", multiple=True, help="Add a header; several times")
@option("--count", type=int, default=0, metavar="N", help="End after so many requests")
async def reply(env: Env, subject: str, body: str, **given: Any) -> None:
    validate_subject(subject, "subscribe to")
    if sum((bool(body), given["echo"], bool(given["command"]))) != 1:
        raise BadInput("give one of BODY, --echo and --command")
    if given["weight"] < 1:
        raise BadInput("--weight is 1 or more")
    answers = Answers(
        compile_template(body.encode(errors="surrogateescape")), publish.header_templates(given["headers"]),
        given["echo"], _words(given["command"]), given["sleep"],
    )  # fmt: skip
    await _serve(env, subject, answers, given["queue"], given["weight"], given["count"])


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise BadInput(f"{text!r} is no command: {str(error).lower()}") from None


async def _serve(env: Env, subject: str, answers: Answers, queue: str, weight: int, count: int) -> None:
    connection = await env.connection()
    received: asyncio.Queue[Message | JsctlError | None] = asyncio.Queue()

    def watch(event: ConnectionEvent) -> bool:
        if isinstance(event, Closed):
            received.put_nowait(Unreachable("the connection was closed for good"))
        elif isinstance(event, PermissionDenied) and event.operation == "subscription":
            received.put_nowait(event.error())
            return True
        return False

    number = 0
    with connection.watching(watch), interrupts(lambda: received.put_nowait(None)):
        async with AsyncExitStack() as stack:
            for _ in range(weight):
                await stack.enter_async_context(connection.receive(subject, received.put_nowait, queue=queue))
            await connection.flush()
            env.say(f'Listening on "{subject}" in group "{queue}"')
            while not count or number < count:
                item = await received.get()
                if item is None:
                    break
                if isinstance(item, JsctlError):
                    raise item
                _show(env, item, number)
                await _answer(env, connection, answers, item, number)
                number += 1
            await connection.flush()
    env.say(f"Answered {number:,} request{'s' * (number != 1)}")


def _show(env: Env, item: Message, number: int) -> None:
    env.say(f'[#{number}] Received on subject "{item.subject}":')
    head = view.header_lines(parse_headers(item.header_block))
    env.streams.stdout.write(clean_lines((head + "\n" if head else "") + view.body(item.data) + "\n\n"))
    env.streams.stdout.flush()


async def _answer(env: Env, connection: Connection, answers: Answers, item: Message, number: int) -> None:
    if answers.sleep:
        await asyncio.sleep(random.random() * answers.sleep / SECOND)
    moment = Moment(number, item.data)
    pairs = [(key, value.render(moment).decode(errors="replace")) for key, value in answers.headers]
    if answers.echo:
        pairs += [*parse_headers(item.header_block), ("NATS-Reply-Counter", str(number))]
        data = item.data
    elif answers.command:
        data, failed = await _run(answers.command, item, moment)
        if failed:
            env.say(f"jsctl: {failed}")
            pairs += [("Nats-Service-Error", failed), ("Nats-Service-Error-Code", "500")]
    else:
        data = answers.body.render(moment)
    if not item.reply:
        env.say("jsctl: that was no request: it names no reply subject")
        return
    message = OutgoingMessage(item.reply, data, "", encode_headers(pairs))
    try:
        connection.check_size(message)
    except BadInput as error:
        env.say(f"jsctl: not answered: {error}")
        return
    await connection.send(encode_publish(message.subject, message.data, "", message.header_block))


async def _run(command: Sequence[str], item: Message, moment: Moment) -> tuple[bytes, str]:
    """What the command says on stdout, and why it failed, if it did."""
    tokens = item.subject.split(".")

    def fill(word: str) -> str:
        word = re.sub(r"\{\{\.?Request\}\}", "\0", word)
        word = re.sub(r"\{\{(\d+)\}\}", lambda m: tokens[int(m[1])] if int(m[1]) < len(tokens) else "", word)
        word = compile_template(word.encode()).render(moment).decode(errors="surrogateescape")
        return word.replace("\0", item.data.decode(errors="surrogateescape").replace("\0", ""))

    variables = {
        **os.environ,
        "NATS_REQUEST_SUBJECT": item.subject,
        "NATS_REQUEST_BODY": item.data.decode(errors="surrogateescape").replace("\0", ""),
    }
    words = [fill(word) for word in command]
    try:
        process = await asyncio.create_subprocess_exec(
            *words, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, env=variables
        )
    except (OSError, ValueError) as error:
        return b"", f"cannot run {words[0]}: {getattr(error, 'strerror', None) or error}"
    out, _ = await process.communicate()
    return out, f"{words[0]} ended with status {process.returncode}" if process.returncode else ""
