"""`jsctl request`."""

import json
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.shared import stdin
from jsctl.commands.shared.received import translated
from jsctl.env import Env
from jsctl.errors import BadInput, RequestTimeout
from jsctl.jetstream.message import dump, publish
from jsctl.nats import requests
from jsctl.nats.headers import parse_headers, parse_status
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.templates import Moment, compile_template
from jsctl.render.text import clean_json, clean_lines
from jsctl.units import MS, exact_duration
from jsctl.views.message import messages as view

_SPOKEN = 20  #: of more requests than this only the replies are shown

HELP = """\
Subject, body and header values may hold templates as in `jsctl publish --help`. Without a body, stdin is the
body: all of it, or with --send-on newline each line a request.

Nobody there, or no answer in time, is an error with status 4.
"""


@command(
    "request",
    help=HELP,
    examples=[
        "jsctl req weather.london ''",
        "jsctl request '$JS.API.STREAM.NAMES' '' --raw",
        "jsctl req service.ping '' --replies 0 --timeout 2s",
    ],
)
@argument("subject")
@argument("body", required=False)
@option("--wait", "-w", "wait", is_flag=True, hidden=True, help="Accepted: a request always waits")
@option("--raw", "-r", is_flag=True, help="Show payloads alone; in a pipe byte for byte")
@option("--header", "-H", "headers", metavar="K:V", multiple=True, help="Add a header; several times")
@option("--count", type=int, default=1, metavar="N", help="Send so many requests")
@option("--replies", type=int, default=1, metavar="N", help="Wait for so many replies; 0 until --timeout (1)")
@option("--reply-timeout", "gap", type=DURATION, default=300 * MS, metavar="DURATION",
        help="Longest time between two replies (300ms)")  # fmt: skip
@option("--wait-for-empty", "to_empty", is_flag=True, help="Wait for replies until an empty one")
@option("--translate", metavar="COMMAND", default="", help="Show what a command makes of each payload")
@option("--force-stdin", is_flag=True, help="Take the body from stdin")
@option("--send-on", type=str, default="eof", metavar="eof|newline", help="When stdin is sent (eof)")
@option("--templates/--no-templates", default=True, help="Fill templates in subject and body (yes)")
async def request(env: Env, subject: str, body: str | None, **given: Any) -> None:
    if given["send_on"] not in ("eof", "newline"):
        raise BadInput("--send-on takes eof or newline")
    if given["replies"] < 0:
        raise BadInput("--replies is 0 or more")
    connection = await env.connection()
    wanted = requests.Wanted(
        1 << 30 if given["to_empty"] else given["replies"], given["gap"], given["to_empty"],
        connection.settings.timeout,
    )  # fmt: skip
    raw = given["raw"] or env.wants_json
    one = given["count"] == 1 and given["replies"] == 1 and not given["to_empty"]
    single = given["raw"] and one and given["send_on"] == "eof"
    async for message in _messages(env, subject, body, given):
        if not raw and given["count"] <= _SPOKEN:
            env.say(f'Sending request on "{message.subject}"')
        got = 0
        async for answer, spent in requests.ask(connection, message, wanted):
            got, item = got + 1, answer
            if given["translate"]:
                item = item.with_data(await translated(given["translate"], item.data, item.subject))
            if env.wants_json:
                record = {**dump.record(item, got, time.time_ns()), "rtt": spent}
                env.streams.stdout.write(clean_json(json.dumps(record, ensure_ascii=False)) + "\n")
            elif given["raw"]:
                _raw(env, item, single)
            else:
                head = view.header_lines(_headers(item))
                env.say(f"Received with rtt {exact_duration(spent)}")
                text = (head + "\n" if head else "") + view.body(item.data) + "\n\n"
                env.streams.stdout.write(clean_lines(text))
            env.streams.stdout.flush()
        if not got and not given["to_empty"]:
            raise RequestTimeout(
                f"no answer on {message.subject} in {exact_duration(wanted.timeout)}",
                "--timeout waits longer",
            )


def _headers(item: Message) -> list[tuple[str, str]]:
    """Headers, a status line such as `404 No Messages` with them."""

    code, said = parse_status(item.header_block) if item.header_block else (0, "")
    first = [("Status", str(code)), ("Description", said)] if code else []
    return first + (parse_headers(item.header_block) if item.header_block else [])


def _raw(env: Env, item: Message, single: bool) -> None:
    if env.is_terminal:
        env.streams.stdout.write(clean_lines(view.body(item.data) if item.data else "") + "\n")
    else:
        ends = single or item.data.endswith(b"\n")
        env.write_bytes(item.data if ends else item.data + b"\n")


async def _messages(
    env: Env, subject: str, body: str | None, given: dict[str, Any]
) -> AsyncIterator[OutgoingMessage]:
    templates = given["templates"]
    base = publish.draft(subject, b"", given["headers"], templates=templates)
    if body is None and env.streams.stdin.isatty() and not given["raw"]:
        env.say("Reading payload from STDIN")
    number = 0
    if body is None and given["send_on"] == "newline":
        async for lines in stdin.lines(env):
            for line in lines:
                draft = replace(base, body=compile_template(line, enabled=templates))
                for _ in range(max(given["count"], 1)):
                    number += 1
                    yield draft.make(Moment(number))
        return
    data = await stdin.whole(env) if body is None else body.encode(errors="surrogateescape")
    draft = replace(base, body=compile_template(data, enabled=templates))
    for number in range(1, max(given["count"], 1) + 1):
        yield draft.make(Moment(number))
