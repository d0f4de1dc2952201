"""`jsctl stream info` and `state`."""

from jsctl.commands.cli import argument, command, option
from jsctl.commands.picking.pick import open_stream, require_names
from jsctl.env import Env
from jsctl.jetstream.stream import requests as streams
from jsctl.views.result import Result
from jsctl.views.stream import info as view


@command("info", examples=["jsctl stream info ORDERS", "jsctl stream info ORDERS --json"])
@argument("stream", default="")
@option("--state", is_flag=True, help="Only the state")
@option("--no-select", is_flag=True, help="Never offer a list to pick from")
async def info(env: Env, stream: str, state: bool, no_select: bool) -> Result:
    if no_select:
        require_names(stream=stream)
    api, name = await open_stream(env, stream)
    stream_info = await streams.fetch_info(api, name)
    copies = bool(stream_info.get("mirror") or stream_info.get("sources"))
    if copies and not state and env.form in ("table", "plain"):
        from jsctl.monitor.origins import measure_lag

        stream_info = await measure_lag(api, stream_info)
    return view.info_page(stream_info, state_only=state)


@command("state", examples=["jsctl stream state ORDERS", "jsctl stream state ORDERS --json"])
@argument("stream", default="")
@option("--no-select", is_flag=True, help="Never offer a list to pick from")
async def state(env: Env, stream: str, no_select: bool) -> Result:
    if no_select:
        require_names(stream=stream)
    api, name = await open_stream(env, stream)
    info = await streams.fetch_info(api, name)
    return view.info_page(info, state_only=True)
