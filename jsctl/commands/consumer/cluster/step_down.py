"""`jsctl consumer cluster step-down`."""

from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.observers import leaders
from jsctl.commands.picking.pick import open_consumer
from jsctl.env import Env
from jsctl.jetstream.cluster.leaders import build_consumer_group
from jsctl.views.consumer import info as view
from jsctl.views.result import Result


@command(
    "step-down",
    examples=[
        "jsctl consumer cluster step-down ORDERS NEW",
        "jsctl consumer cluster step-down ORDERS NEW --preferred n2",
    ],
)
@argument("stream", default="")
@argument("consumer", default="")
@option("--preferred", metavar="SERVER", default="", help="Server that should lead next")
@destructive("Proceed even if no leader is known", "Only show which leader would step down")
async def step_down(env: Env, stream: str, consumer: str, preferred: str, force: bool) -> Result:
    api, stream, consumer = await open_consumer(env, stream, consumer)
    change = await leaders.step_down(env, build_consumer_group(api, stream, consumer), preferred, force)
    return view.info_page(change.info)
