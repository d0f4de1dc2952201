"""`jsctl consumer pending`."""

from jsctl.base.units import NEVER, compute_age, format_rfc3339, pluralize, seconds_to_ns
from jsctl.commands.cli import argument, command, option
from jsctl.commands.options.watch import WATCH, Report, check_interval, fetch_or_watch
from jsctl.commands.picking.pick import open_consumer
from jsctl.env import Env
from jsctl.monitor.consumer.pending import PendingMessages, fetch_pending
from jsctl.views.result import Column, Result, Table

_COLUMNS = (
    Column("Sequence", "sequence", "count"),
    Column("Subject", "subject"),
    Column("Time", "time", "time", hideable=3),
    Column("Age", "age", "ago"),
    Column("Due", "due", "time", hideable=2, optional=True),
    Column("Deliveries", "deliveries", "count"),
    Column("Client", "client", hideable=1, optional=True),
)


def _show_pending(stream: str, consumer: str, pending: PendingMessages, now: float) -> Result:
    """Show each message that waits for an acknowledgement. now: seconds since the epoch."""
    clock = seconds_to_ns(now)
    rows = [
        (
            one.sequence,
            one.subject or None,
            one.time or None,
            compute_age(one.time, clock) if one.time else NEVER,
            format_rfc3339(one.due) if one.due else None,
            one.deliveries or None,
            one.client or None,
        )
        for one in pending.messages
    ]
    title = f"{pluralize(len(rows), 'Unacknowledged Message')} of Consumer {stream} > {consumer}"
    empty = f"Consumer {stream} > {consumer} waits for no acknowledgements"
    if pending.doubt:
        empty = f"It is not known for which messages consumer {stream} > {consumer} waits"
    table = Table(title, _COLUMNS, rows, empty=empty)
    return Result([table])


@command(
    "pending",
    columns=_COLUMNS,
    examples=["jsctl consumer pending ORDERS NEW", "jsctl consumer pending ORDERS NEW --json"],
)
@argument("stream", default="")
@argument("consumer", default="")
@option(*WATCH[0], **WATCH[1])
async def pending(env: Env, stream: str, consumer: str, watch: int | None) -> Report:
    """Show how often each message was delivered, and to whom: the subject of a push consumer, or a pinned
    client. Servers tell neither which client has pulled a message nor when it was delivered: it waits at most
    for its age. Due is when a message that its client has delayed is delivered again.
    """
    check_interval(watch)
    api, stream, consumer = await open_consumer(env, stream, consumer)

    async def fetch() -> Result:
        messages = await fetch_pending(api, stream, consumer)
        if messages.doubt:
            env.say(f"warning: {messages.doubt}")
        return _show_pending(stream, consumer, messages, env.clock())

    return await fetch_or_watch(fetch, watch)
