"""`jsctl consumer info` and `jsctl consumer state`."""

from jsctl.commands.cli import argument, command, option
from jsctl.commands.picking.pick import open_consumer, require_names
from jsctl.env import Env
from jsctl.jetstream.consumer import requests as consumers
from jsctl.views.consumer import info as view
from jsctl.views.result import Result


@command(
    "info",
    examples=["jsctl consumer info ORDERS NEW", "jsctl consumer info ORDERS NEW --json"],
)
@argument("stream", default="")
@argument("consumer", default="")
@option("--no-select", is_flag=True, help="Never offer a list to pick from")
async def info(env: Env, stream: str, consumer: str, no_select: bool) -> Result:
    return await _show(env, stream, consumer, no_select, state_only=False)


@command("state", examples=["jsctl consumer state ORDERS NEW"])
@argument("stream", default="")
@argument("consumer", default="")
@option("--no-select", is_flag=True, help="Never offer a list to pick from")
async def state(env: Env, stream: str, consumer: str, no_select: bool) -> Result:
    return await _show(env, stream, consumer, no_select, state_only=True)


async def _show(env: Env, stream: str, consumer: str, no_select: bool, *, state_only: bool) -> Result:
    if no_select:
        require_names(stream=stream, consumer=consumer)
    api, stream, consumer = await open_consumer(env, stream, consumer)
    consumer_info = await consumers.fetch_info(api, stream, consumer)
    return view.info_page(consumer_info, state_only=state_only)
