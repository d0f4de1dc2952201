"""`jsctl counter increment` and `decrement`."""

from jsctl.commands.cli import argument, command, dry_run_flag
from jsctl.commands.counter.shared import change, stream_flag
from jsctl.env import Env
from jsctl.jetstream.counter import counters
from jsctl.views.result import Result


@command(
    "increment",
    takes_number=True,
    examples=[
        "jsctl counter increment hits.home",
        "jsctl counter increment hits.home -5",
    ],
)
@argument("subject", completes="counter")
@argument("value", default="1")
@stream_flag
@dry_run_flag("Only show what the value would be")
async def increment(env: Env, subject: str, value: str, stream: str) -> Result:
    """Show the new value. VALUE is a whole number of any size, by default 1."""
    return await change(env, subject, counters.parse_amount(value), stream)


@command(
    "decrement",
    takes_number=True,
    examples=[
        "jsctl counter decrement hits.home",
        "jsctl counter decrement stock.apples 12",
    ],
)
@argument("subject", completes="counter")
@argument("value", default="1")
@stream_flag
@dry_run_flag("Only show what the value would be")
async def decrement(env: Env, subject: str, value: str, stream: str) -> Result:
    """Show the new value. VALUE is a whole number of any size, by default 1."""
    return await change(env, subject, counters.negate(counters.parse_amount(value)), stream)
