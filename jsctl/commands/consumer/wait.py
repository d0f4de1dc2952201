"""`jsctl consumer wait`."""

from dataclasses import dataclass

import click

from jsctl.base.command_lines import build_line
from jsctl.base.loops import enter_event_loop
from jsctl.base.units import format_count
from jsctl.commands.cli import argument, command, option
from jsctl.commands.options.idle import find_time_limit
from jsctl.commands.picking.pick import open_consumer
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.waiting import wait_until
from jsctl.views.result import Result, report


@dataclass(frozen=True, slots=True)
class Options:
    """The condition: drained, or a sequence."""

    stream: str
    consumer: str
    drained: bool
    sequence: int | None

    def __post_init__(self) -> None:
        if self.drained == (self.sequence is not None):
            raise BadInput("a wait needs one condition", "use one of --drained and --sequence")

    def describe_missing(self, info: Json) -> str:
        """Return what a consumer has not done yet; empty if it is as expected."""
        name, floor = f"{info['stream_name']} > {info['name']}", int(info["ack_floor"]["stream_seq"])
        if is_drained(info):
            return ""
        if self.sequence is None:
            pending, unacknowledged = format_count(info["num_pending"]), format_count(info["num_ack_pending"])
            counts = f"{pending} unprocessed and {unacknowledged} unacknowledged"
            return f"consumer {name} has {counts} messages"
        ends = format_count(floor), format_count(self.sequence)
        missing = f"consumer {name} has acknowledged everything up to sequence {ends[0]}, not {ends[1]}"
        return missing if floor < self.sequence else ""


def is_drained(info: Json) -> bool:
    """Return whether a consumer has no pending and no unacknowledged message."""
    return not info["num_pending"] and not info["num_ack_pending"]


@command(
    "wait",
    examples=[
        "jsctl consumer wait ORDERS NEW --drained --timeout 1m",
        "jsctl consumer wait ORDERS NEW --sequence 1000",
    ],
)
@argument("stream", default="")
@argument("consumer", default="")
@option("--drained", is_flag=True, help="Wait until no message is pending or unacknowledged")
@option(
    "--sequence",
    type=click.IntRange(min=1),
    metavar="N",
    help="Wait until it is drained, or all up to the stream's sequence N is acknowledged",
)
async def wait(env: Env, options: Options) -> Result:
    """Ask for the consumer's state ten times per second, until ctrl-C or for --timeout, after which the exit
    status is 4. Servers that are restarted meanwhile are waited for; a consumer that is removed is status 3.
    """
    await enter_event_loop()  # connections that are lost come back
    api, stream, name = await open_consumer(env, options.stream, options.consumer)
    info = await wait_until(
        lambda api: consumers.fetch_info(api, stream, name),
        options.describe_missing,
        api,
        limit=find_time_limit(env),
        hint=f"{build_line('consumer why', stream, name)} shows why",
        report=env.show_status,
    )
    keys = "delivered", "ack_floor", "num_ack_pending", "num_pending", "num_redelivered"
    floor = format_count(int(info["ack_floor"]["stream_seq"]))
    done = "is drained" if is_drained(info) else f"has acknowledged everything up to sequence {floor}"
    return report(
        f"Consumer {stream} > {name} {done}",
        {"stream": stream, "consumer": name, **{key: info[key] for key in keys}},
    )
