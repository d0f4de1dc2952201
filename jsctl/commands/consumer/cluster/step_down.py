"""`jsctl consumer cluster step-down`."""

from jsctl.commands.cli import argument, command, option
from jsctl.commands.shared.pick import pick_consumer
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream import cluster as raft
from jsctl.jetstream.consumer import requests as consumers
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
@option("--preferred", metavar="SERVER", default="", help="The server that should lead next")
@option("--force", "-f", is_flag=True, help="Also when no leader is known")
async def step_down(env: Env, stream: str, consumer: str, preferred: str, force: bool) -> Result:
    api = await env.jetstream()
    stream, consumer = await pick_consumer(env, api, stream, consumer)
    group = raft.cluster(await consumers.info(api, stream, consumer))
    leader = str(group.get("leader") or "")
    if not leader and not force:
        raise JsctlError(
            f"consumer {stream} > {consumer} has no leader now", "--force asks for an election all the same"
        )
    raft.check_preferred(group, preferred)
    count = len(group["replicas"]) + 1
    env.say(
        f"Requesting leader step down of {leader or 'an unknown leader'}"
        f" for consumer {stream} > {consumer}, {count} peers"
    )
    await consumers.step_down(api, stream, consumer, preferred)
    after = await raft.new_leader(lambda: consumers.info(api, stream, consumer), leader)
    env.say(f"{after} leads again" if after == leader else f"New leader elected: {after}")
    return view.sheet(await consumers.info(api, stream, consumer))
