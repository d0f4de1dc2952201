"""`jsctl counter increment`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.counter.shared import complete_counters, stream_flag
from jsctl.env import Env
from jsctl.jetstream.counter import counters
from jsctl.views.counter import counters as view
from jsctl.views.result import Result


@command(
    "increment",
    takes_number=True,
    examples=[
        "jsctl counter increment hits.home",
        "jsctl counter increment hits.home -5",
    ],
)
@argument("subject", shell_complete=complete_counters)
@argument("value", default="1")
@stream_flag
async def increment(env: Env, subject: str, value: str, stream: str) -> Result:
    """VALUE is a whole number of any size, by default 1. Shows the new value."""
    amount = counters.parse_amount(value)
    number, name = await counters.add(await env.jetstream(), subject, amount, stream)
    return view.value(name, subject, number)
