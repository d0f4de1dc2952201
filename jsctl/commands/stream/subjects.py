"""`jsctl stream subjects`."""

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.subjects import is_subject
from jsctl.views.result import Result
from jsctl.views.stream import subjects as view

SORTS = ("name", "subjects", "messages", "count")


@command(
    "subjects",
    columns=view.COLUMNS,
    examples=["jsctl stream subjects ORDERS", "jsctl stream subjects ORDERS 'ORDERS.eu.>' --sort name"],
)
@argument("stream", default="")
@argument("filter", default=">")
@option("--sort", type=click.Choice(SORTS), default="messages", help="Sort by name or by messages")
@option("--reverse", "-R", is_flag=True, help="Sort in reverse order")
@option("--names/--no-names", default=False, help="Only the subjects, one per line")
async def subjects(env: Env, stream: str, filter: str, sort: str, reverse: bool, names: bool) -> Result:
    if not is_subject(filter):
        raise BadInput(f"{filter!r} is not a valid subject")
    api, name = await open_stream(env, stream)
    await streams.fetch_info(api, name)
    counts = await streams.count_subjects(api, name, filter)
    by_name = sort in ("name", "subjects")
    return view.subjects(name, counts, pattern=filter, by_name=by_name, reverse=reverse, names=names)
