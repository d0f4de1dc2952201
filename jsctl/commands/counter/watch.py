"""`jsctl counter watch`."""

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.counter.shared import stream_flag
from jsctl.commands.options.idle import choose_idle_limit, wait_flag
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.counter import counters
from jsctl.jetstream.counter.counters import Counter
from jsctl.nats.subjects import is_subject
from jsctl.views.counter import counters as view
from jsctl.views.events import Events


@command("watch", examples=["jsctl counter watch 'hits.*'", "jsctl counter watch hits.home --updates --json"])
@argument("subject", completes="counter")
@stream_flag
@option("--updates", is_flag=True, help="Show only what changes from now on")
@option("--count", type=click.IntRange(min=0), default=0, metavar="N", help="End after N changes")
@wait_flag
async def watch(env: Env, subject: str, stream: str, updates: bool, count: int, wait: int) -> Events[Counter]:
    """Show the value of each counter, then each change, until ctrl-C. SUBJECT may contain wildcards."""
    if not is_subject(subject):
        raise BadInput(f"{subject!r} is not a valid subject")
    api = await env.jetstream()
    info = await counters.find_stream(api, subject, stream)
    receiver = counters.watch(api, info, subject, new=updates, limit=count)
    batches = receiver.read_decoded(counters.decode_counter)
    events = view.changes(batches, limit=count, stop=receiver.stop)
    return events.end_after(choose_idle_limit(env, wait, count))
