"""`jsctl stream cluster step-down`."""

from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.observers import leaders
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.jetstream.cluster.leaders import build_stream_group
from jsctl.views.result import Result
from jsctl.views.stream import info as view


@command(
    "step-down",
    examples=[
        "jsctl stream cluster step-down ORDERS",
        "jsctl stream cluster step-down ORDERS --preferred n2",
    ],
)
@argument("stream", default="")
@option("--preferred", metavar="SERVER", default="", help="Server that should lead next")
@destructive("Proceed even if no leader is known", "Only show which leader would step down")
async def step_down(env: Env, stream: str, preferred: str, force: bool) -> Result:
    api, name = await open_stream(env, stream)
    change = await leaders.step_down(env, build_stream_group(api, name), preferred, force)
    return view.info_page(change.info)
