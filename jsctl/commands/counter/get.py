"""`jsctl counter get`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.counter.shared import stream_flag
from jsctl.env import Env
from jsctl.jetstream.counter import counters
from jsctl.views.counter import counters as view
from jsctl.views.result import Result


@command("get", examples=["jsctl counter get hits.home", "jsctl counter get hits.home --stream ALL_HITS"])
@argument("subject", noun="counter")
@stream_flag
async def get(env: Env, subject: str, stream: str) -> Result:
    counter = await counters.get(await env.jetstream(), subject, stream)
    return view.value(counter.stream, subject, counter.value)
