"""`jsctl counter list`."""

from contextlib import aclosing

from jsctl.commands.cli import argument, command, option
from jsctl.commands.counter.shared import stream_flag
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.counter import counters
from jsctl.nats.subjects import is_subject
from jsctl.views.counter import counters as view
from jsctl.views.result import Result, Text


@command(
    "list",
    columns=view.COLUMNS,
    examples=[
        "jsctl counter list",
        "jsctl counter list 'hits.*'",
        "jsctl counter list --stream ALL_HITS --names",
    ],
)
@argument("subject", default="", completes="counter")
@stream_flag
@option("--names", "-n", "names_only", is_flag=True, help="Only subjects, one per line")
@option("--rows", "with_rows", is_flag=True, help="With --json, write values and streams, too")
async def list_(env: Env, subject: str, stream: str, names_only: bool, with_rows: bool) -> Result:
    """Show the counters of all streams if neither SUBJECT nor --stream is given. SUBJECT may contain
    wildcards.
    """
    if subject and not is_subject(subject):
        raise BadInput(f"{subject!r} is not a valid subject")
    listed = []
    async with aclosing(counters.read_all(await env.jetstream(), subject, stream)) as pages:
        async for page in pages:
            listed += page
    if names_only:
        names = [counter.subject for counter in listed]
        return Result([Text("\n".join(names), whole=True)] if names else [], data=names)
    return view.listing(listed, subject, with_rows=with_rows)
