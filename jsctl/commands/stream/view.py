"""`jsctl stream view`."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import click

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.shared.pick import pick_stream
from jsctl.commands.shared.received import translated
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.payload import shown
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.message import Message
from jsctl.nats.subjects import is_subject
from jsctl.units import format_rfc3339, seconds_to_ns
from jsctl.views.result import Result, Text
from jsctl.views.stream import messages as pictures

_PAGE = 10


@dataclass(frozen=True, slots=True)
class Options:
    """page: messages between two questions, 0 asks nothing. limit: end after so many, 0 for all."""

    page: int
    limit: int
    start: int | None
    since: int | None
    subject: str
    match: re.Pattern[bytes] | None
    translate: str
    raw: bool
    follow: bool


@command(
    "view",
    examples=[
        "jsctl stream view ORDERS",
        "jsctl stream view ORDERS 25 --id 1000",
        "jsctl stream view ORDERS --since 1h --subject 'ORDERS.eu.>' --match 'total.*[0-9]{4}'",
        "jsctl stream view ORDERS --since 0s --follow",
        "jsctl stream view ORDERS --raw | head",
    ],
)
@argument("stream", default="")
@argument("size", type=click.IntRange(min=1), required=False)
@option("--id", "start", type=click.IntRange(min=1), metavar="ID", help="Start at this sequence")
@option("--since", type=DURATION, metavar="DURATION", help="Start with messages not older than this")
@option("--raw", is_flag=True, help="Only payloads; in a pipe byte for byte, a line end after each")
@option("--translate", metavar="COMMAND", default="", help="Show payloads as this command translates them")
@option("--subject", metavar="SUBJECT", default="", help="Only messages on this subject; wildcards too")
@option("--match", metavar="REGEX", default="", help="Only messages whose payload has this")
@option("--follow", is_flag=True, help="Go on with messages as they come, until ctrl-C")
async def view(env: Env, stream: str, **flags: Any) -> None:
    """On a terminal pages of SIZE messages (10), with a question between; in a pipe the first SIZE, or all.
    No consumer is made, and nothing is acknowledged: it works on work queues, too.
    """
    options = _options(env, **flags)
    api = await env.jetstream()
    name = await pick_stream(env, api, stream)
    info = await streams.info(api, name)
    first = await _first(env, api, info, options)
    try:
        await _show(env, api, info, first, options)
    except asyncio.CancelledError:
        if not options.follow:
            raise


def _options(env: Env, *, size: int | None, match: str, **flags: Any) -> Options:
    """What was said, checked. Raises BadInput."""
    if flags["start"] is not None and flags["since"] is not None:
        raise BadInput("--id and --since exclude each other")
    if flags["subject"] and not is_subject(flags["subject"]):
        raise BadInput(f"{flags['subject']!r} is no subject")
    if flags["raw"] and env.wants_json:
        raise BadInput("--raw and --json exclude each other")
    if env.form in ("csv", "tsv"):
        raise BadInput("stream view has no table", "use --json")
    try:
        pattern = re.compile(match.encode(errors="surrogateescape")) if match else None
    except re.error as error:
        raise BadInput(f"--match {match!r} is no regular expression: {error}") from None
    paged = env.is_terminal and env.can_ask and env.form == "table" and not flags["follow"]
    page, limit = (size or _PAGE, 0) if paged else (0, size or 0)
    return Options(page=page, limit=limit, match=pattern, **flags)


async def _first(env: Env, api: Api, info: Json, options: Options) -> int:
    """The sequence to start at."""
    state = info["state"]
    if options.since is None:
        return max(options.start or 1, int(state["first_seq"]))
    start = format_rfc3339(seconds_to_ns(env.clock()) - options.since)
    found = await browse.since(api, info["config"]["name"], start, options.subject)
    return found.sequence if found else int(state["last_seq"]) + 1


async def _show(env: Env, api: Api, info: Json, first: int, options: Options) -> None:
    name, out = str(info["config"]["name"]), _Output(env, options)
    async for message in _matching(_messages(api, info, first, options), options.match):
        if options.page and out.count and out.count % options.page == 0:
            env.streams.stdout.flush()
            if not await env.prompter.confirm("Next Page?", flag="SIZE", default=True):
                return
        body = message.data
        if options.translate:
            body = await translated(options.translate, body, message.subject, name)
        out.message(name, message, body)
        if out.count == options.limit:
            break
    else:
        out.ran_out()
    out.end()


class _Output:
    """Messages as they come: pictures, payloads, or JSON: one document, with --follow one a line."""

    def __init__(self, env: Env, options: Options) -> None:
        self.count = 0
        self._env, self._options = env, options
        self._listed = env.wants_json and not options.follow
        if self._listed:
            env.streams.stdout.write("[")

    def message(self, stream: str, message: Message, body: bytes) -> None:
        """body: the payload, or what it was translated to."""
        env = self._env
        if env.wants_json:
            self._json(pictures.record(stream, message, body))
        elif not self._options.raw:
            env.emit(Result([pictures.listed(message, body)]))
        elif env.is_terminal:
            env.emit(Result([Text(shown(body))]))
        else:
            env.write_bytes(body + b"\n")
        self.count += 1
        if self._options.follow:
            env.streams.stdout.flush()

    def ran_out(self) -> None:
        """There are no more messages."""
        if self._env.is_terminal and not self._env.wants_json:
            self._env.streams.stdout.flush()
            self._env.say("Reached apparent end of data")

    def end(self) -> None:
        if self._listed:
            self._env.streams.stdout.write("\n]\n" if self.count else "]\n")

    def _json(self, record: Json) -> None:
        from jsctl.render.emit import json_text

        text = json_text(record, indent=None)
        if self._listed:
            text = (",\n" if self.count else "\n") + text
        else:
            text += "\n"
        self._env.streams.stdout.write(text)


def _messages(api: Api, info: Json, first: int, options: Options) -> AsyncIterator[Message]:
    name, last = info["config"]["name"], int(info["state"]["last_seq"])
    # A page is soon read from the leader; what goes through the whole stream is worth a faster way.
    many = not (options.page or 0 < options.limit <= 100) or options.match is not None
    bulk = many and bool(info["config"].get("allow_direct"))
    if options.follow:
        return browse.follow(api, name, start=first, subject=options.subject, bulk=bulk)
    return browse.read(api, name, start=first, subject=options.subject, last=last, bulk=bulk)


async def _matching(
    messages: AsyncIterator[Message], pattern: re.Pattern[bytes] | None
) -> AsyncIterator[Message]:
    async for message in messages:
        if pattern is None or pattern.search(message.data):
            yield message
