"""`jsctl counter get` and `view`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.counter.shared import stream_flag
from jsctl.env import Env
from jsctl.jetstream.counter import counters
from jsctl.views.counter import counters as counters_view
from jsctl.views.result import Result


@command("get", examples=["jsctl counter get hits.home", "jsctl counter get hits.home --stream ALL_HITS"])
@argument("subject", noun="counter")
@stream_flag
async def get(env: Env, subject: str, stream: str) -> Result:
    counter = await counters.get(await env.jetstream(), subject, stream)
    return counters_view.value(counter.stream, subject, counter.value)


@command("view", examples=["jsctl counter view hits.home", "jsctl counter view hits.home --stream ALL_HITS"])
@argument("subject", noun="counter")
@stream_flag
async def view(env: Env, subject: str, stream: str) -> Result:
    """Leave out what sources contribute if the stream has none."""
    return counters_view.info_page(await counters.get(await env.jetstream(), subject, stream))
