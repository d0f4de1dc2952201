"""`jsctl trace`."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsctl.base.files import CONFIG_SIZE, read_bytes
from jsctl.base.json_text import parse_json
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.nats.headers import encode_headers, parse_header_text
from jsctl.trace import model
from jsctl.trace.request import trace as trace_message
from jsctl.views.result import Result
from jsctl.views.trace import trace as view

HELP = """\
Show each server that a message on SUBJECT reaches, and which subscribers and streams get it, or why nobody
does. The message itself is not delivered, except with --deliver. Servers need version 2.11.

jsctl trace diff FIRST SECOND compares two traces that were saved with --json; if they differ, the exit status
is 2.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """The flags and arguments of `trace`. words: subject and payload, or `diff` and two files."""

    words: tuple[str, ...]
    deliver: bool
    timestamp: bool
    headers: tuple[str, ...]
    dot: bool

    def __post_init__(self) -> None:
        if self.is_diff:
            return
        if not self.words:
            raise BadInput("the subject is missing", "specify SUBJECT")
        if len(self.words) > 2:
            raise BadInput("there are too many arguments", "specify only SUBJECT and PAYLOAD, quoted")

    @property
    def is_diff(self) -> bool:
        """Whether two saved traces are compared."""
        return len(self.words) == 3 and self.words[0] == "diff"

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The headers. Raises BadInput."""
        pairs = [parse_header_text(text) for text in self.headers]
        encode_headers(pairs)
        return pairs


@command(
    "trace",
    help=HELP,
    examples=[
        "jsctl trace orders.new",
        "jsctl trace orders.new 'order 1' --deliver --timestamp",
        "jsctl trace orders.new --dot",
        "jsctl trace diff before.json after.json",
    ],
)
@argument("words", metavar="SUBJECT [PAYLOAD]", nargs=-1)
@option("--deliver", is_flag=True, help="Deliver the message, too")
@option("--timestamp", "-T", is_flag=True, help="Show the time since the message was received")
@option("--header", "-H", "headers", metavar="K:V", multiple=True, help="Add a header; may be repeated")
@option("--dot", is_flag=True, help="Show a graph for Graphviz")
async def trace(env: Env, options: Options) -> Result:
    if options.is_diff:
        return view.difference(*(_read_trace(expand_home(file)) for file in options.words[1:]))
    subject, data = options.words[0], os.fsencode("".join(options.words[1:]))
    connection = await env.connection()
    documents = await trace_message(connection, subject, data, options.pairs, deliver=options.deliver)
    if options.dot:
        return view.dot(subject, documents)
    return view.tree(subject, documents, times=options.timestamp, deliver=options.deliver)


def _read_trace(path: Path) -> model.Hop:
    """Read a trace that was saved. Raises BadInput."""
    try:
        saved: Any = parse_json(read_bytes(path, "", CONFIG_SIZE))
        if not isinstance(saved, dict) or not isinstance(saved.get("traces"), list):
            raise ValueError("it is not a trace")
        return model.build(dict(map(model.parse_document, saved["traces"])))
    except ValueError as error:
        raise BadInput(
            f"cannot read {path}: {error}",
            "save one with jsctl trace SUBJECT --json",
        ) from None
