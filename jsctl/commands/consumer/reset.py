"""`jsctl consumer reset`."""

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.pick import pick_consumer
from jsctl.env import Env
from jsctl.jetstream import consumers
from jsctl.units import format_count
from jsctl.views import consumer_info as view
from jsctl.views.result import Result


@command(
    "reset", examples=["jsctl consumer reset ORDERS NEW", "jsctl consumer reset ORDERS NEW --sequence 1000"]
)
@argument("stream", default="")
@argument("consumer", default="")
@option(
    "--sequence", type=click.IntRange(min=0), metavar="SEQUENCE", help="Deliver from here on (the ack floor)"
)
@option("--force", "-f", is_flag=True, help="Reset without asking")
async def reset(env: Env, stream: str, consumer: str, sequence: int | None, force: bool) -> Result:
    """Deliver again from the acknowledgement floor, or from a sequence, on"""
    api = await env.jetstream()
    stream, consumer = await pick_consumer(env, api, stream, consumer)
    before = await consumers.info(api, stream, consumer)
    where = f"sequence {format_count(sequence)}" if sequence else "its acknowledgement floor"
    await env.confirm(f"Really reset Consumer {stream} > {consumer} to {where}", force=force)
    if not sequence and not before["ack_floor"]["stream_seq"]:
        # Without a floor the server (2.15) goes on after what was delivered: what was not acknowledged
        # would be lost.
        sequence = 1
    info = await consumers.reset(api, stream, consumer, sequence)
    return view.sheet(info, state_only=True)
