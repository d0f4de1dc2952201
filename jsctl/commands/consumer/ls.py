"""`jsctl consumer ls`."""

from jsctl.commands.cli import argument, command, option
from jsctl.commands.picking.pick import open_stream, require_names
from jsctl.env import Env
from jsctl.jetstream.consumer import requests as consumers
from jsctl.views.consumer import ls as view
from jsctl.views.events import Events, names
from jsctl.views.result import Result


@command(
    "ls", columns=view.COLUMNS, examples=["jsctl consumer ls ORDERS", "jsctl consumer ls ORDERS --names"]
)
@argument("stream", default="")
@option("--names", "-n", "names_only", is_flag=True, help="Only names, one per line")
@option("--no-select", is_flag=True, help="Never offer a list to pick from")
async def ls(env: Env, stream: str, names_only: bool, no_select: bool) -> Result | Events[str]:
    if no_select:
        require_names(stream=stream)
    api, stream = await open_stream(env, stream)
    if names_only or env.wants_json:
        return names(consumers.list_name_pages(api, stream))
    return view.listing(stream, await consumers.collect(api, stream, view.list_row))
