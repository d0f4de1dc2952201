"""`jsctl stream seal`."""

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.jetstream.stream import requests as streams
from jsctl.views.intent import seal_intent
from jsctl.views.result import Result
from jsctl.views.stream import info as view


@command("seal", examples=["jsctl stream seal ORDERS", "jsctl stream seal ORDERS --force"])
@argument("stream", default="")
@unprotect_flag
@destructive("Seal without asking")
async def seal(env: Env, stream: str, unprotect: tuple[str, ...], force: bool) -> Result:
    """Prevent any change: messages can no longer be added to a sealed stream or removed from it, and its
    configuration is fixed.
    """
    api, name = await open_stream(env, stream)
    info = await streams.fetch_info(api, name)
    if info["config"].get("sealed"):
        env.inform(f"Stream {name} is already sealed; nothing was changed")
        return view.info_page(info)
    refuse_protected([info], unprotect)
    await env.confirm(seal_intent(f"Stream {name}", "streams", info), force=force)
    config = (await streams.fetch_info(api, name))[
        "config"
    ]  # others may have changed it while the question stood
    return view.info_page(await streams.update(api, {**config, "sealed": True}))
