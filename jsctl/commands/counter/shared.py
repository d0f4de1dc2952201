"""The common parts of the verbs of `jsctl counter`: the flag that names the stream, changes."""

from jsctl.commands.cli import option
from jsctl.env import Env
from jsctl.jetstream.counter import counters
from jsctl.views.counter import counters as view
from jsctl.views.result import Result

stream_flag = option(
    "--stream",
    metavar="STREAM",
    default="",
    noun="stream",
    help="The counter's stream, if several store the subject",
)


async def change(env: Env, subject: str, amount: str, stream: str) -> Result:
    """Add an amount to a counter, and show its new value."""
    api = await env.jetstream()
    if env.dry_run:
        name, before, after = await counters.estimate_addition(api, subject, amount, stream)
        env.announce(view.intent(name, subject, amount, before, after))
    number, name = await counters.add(api, subject, amount, stream)
    return view.value(name, subject, number)
