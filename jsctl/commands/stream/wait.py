"""`jsctl stream wait`."""

from dataclasses import dataclass

import click

from jsctl.base.command_lines import build_line
from jsctl.base.loops import enter_event_loop
from jsctl.base.units import format_count, pluralize
from jsctl.commands.cli import argument, command, option
from jsctl.commands.options.idle import find_time_limit
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.waiting import wait_until
from jsctl.views.result import Result, report

_COUNT = click.IntRange(min=1)


@dataclass(frozen=True, slots=True)
class Options:
    """The condition: one of messages, sequence and empty."""

    stream: str
    messages: int | None
    sequence: int | None
    empty: bool

    def __post_init__(self) -> None:
        if sum((self.messages is not None, self.sequence is not None, self.empty)) != 1:
            raise BadInput("a wait needs one condition", "use one of --messages, --sequence and --empty")

    def describe_missing(self, info: Json) -> str:
        """Return what a stream does not have yet; empty if it is as expected. Raises BadInput for what it
        cannot have."""
        state, limit = info["state"], int(info["config"].get("max_msgs") or 0)
        count, last = int(state["messages"]), int(state["last_seq"])
        if self.empty:
            return f"stream {self.stream} still has {pluralize(count, 'message')}" if count else ""
        if self.sequence is not None:
            number = format_count(self.sequence)
            missing = f"stream {self.stream} is at sequence {format_count(last)}, not {number}"
            return missing if last < self.sequence else ""
        expected = self.messages or 0
        if 0 < limit < expected:
            hint = f"--messages takes up to {limit}, --sequence any number"
            raise BadInput(f"stream {self.stream} keeps at most {pluralize(limit, 'message')}", hint)
        missing = f"stream {self.stream} has {format_count(count)} of {pluralize(expected, 'message')}"
        return missing if count < expected else ""


@command(
    "wait",
    examples=[
        "jsctl stream wait ORDERS --sequence 5 --timeout 10s",
        "jsctl stream wait ORDERS --messages 1000 --timeout 5s",
        "jsctl stream wait JOBS --empty --timeout 1h",
    ],
)
@argument("stream", default="")
@option("--messages", type=_COUNT, metavar="N", help="Wait until the stream has N messages or more")
@option("--sequence", type=_COUNT, metavar="N", help="Wait until its last sequence is N or more")
@option("--empty", is_flag=True, help="Wait until it has no messages")
async def wait(env: Env, options: Options) -> Result:
    """Ask for the stream's state ten times per second, until ctrl-C or for --timeout, after which the exit
    status is 4. Servers that are restarted meanwhile are waited for; a stream that is removed is status 3.
    """
    await enter_event_loop()  # connections that are lost come back
    api, name = await open_stream(env, options.stream)
    info = await wait_until(
        lambda api: streams.fetch_info(api, name),
        options.describe_missing,
        api,
        limit=find_time_limit(env),
        hint=f"{build_line('stream state', name)} shows what it has",
        report=env.show_status,
    )
    state = info["state"]
    count, last = pluralize(int(state["messages"]), "message"), format_count(int(state["last_seq"]))
    return report(f"Stream {name} has {count}, the last sequence is {last}", {"stream": name, "state": state})
