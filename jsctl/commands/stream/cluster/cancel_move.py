"""`jsctl stream cluster cancel-move`."""

from jsctl.base.loops import sleep
from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream.cluster.peers import cancel_move as request_cancel
from jsctl.jetstream.cluster.peers import check_in_cluster
from jsctl.jetstream.stream import requests as streams
from jsctl.views.intent import Intent
from jsctl.views.result import Result, Text
from jsctl.views.stream.info import info_page

_INTERVAL_SECONDS = 0.5
_PATIENCE_SECONDS = 60


@command(
    "cancel-move",
    examples=["jsctl stream cluster cancel-move ORDERS", "jsctl stream cluster cancel-move ORDERS --force"],
)
@argument("stream", default="")
@destructive("Cancel without asking, and do not wait")
async def cancel_move(env: Env, stream: str, force: bool) -> Result:
    """Undo what the stream's servers are changing: a move to other servers, another number of replicas, or
    another retention. The stream goes back to what it was before.
    """
    api, name = await open_stream(env, stream)
    info = await streams.fetch_info(api, name)
    check_in_cluster(info)
    if not force or env.dry_run:
        if not info["cluster"].get("desired"):
            raise JsctlError(f"stream {name} is not moving", "jsctl stream info shows what it is changing to")
        await env.confirm(Intent(f"cancel the move of Stream {name}", {"stream": name}), force=force)
    await request_cancel(api, name)
    canceled = Text(f'Canceled move of "{name}"')
    if force:
        return Result([canceled], data={"stream": name, "canceled": True})
    env.inform("Waiting for the move to end")
    for _ in range(int(_PATIENCE_SECONDS / _INTERVAL_SECONDS)):
        info = await streams.fetch_info(api, name)
        if not info["cluster"].get("desired"):
            page = info_page(info)
            return page._replace(parts=[canceled, *page.parts])
        await sleep(_INTERVAL_SECONDS)
    raise JsctlError(f"the move of stream {name} is not canceled yet", "see jsctl stream info")
