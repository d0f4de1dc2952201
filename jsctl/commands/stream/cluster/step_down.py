"""`jsctl stream cluster step-down`."""

from jsctl.commands.cli import argument, command, option
from jsctl.commands.shared.pick import pick_stream
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream import cluster as raft
from jsctl.jetstream.stream import requests as streams
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
@option("--preferred", metavar="SERVER", default="", help="The server that should lead next")
@option("--force", "-f", is_flag=True, help="Also when no leader is known")
async def step_down(env: Env, stream: str, preferred: str, force: bool) -> Result:
    api = await env.jetstream()
    name = await pick_stream(env, api, stream)
    group = raft.cluster(await streams.info(api, name))
    leader = str(group.get("leader") or "")
    if not leader and not force:
        raise JsctlError(f"stream {name} has no leader now", "--force asks for an election all the same")
    raft.check_preferred(group, preferred)
    count = len(group["replicas"]) + 1
    env.say(
        f"Requesting leader step down of {leader or 'an unknown leader'} for stream {name}, {count} peers"
    )
    await raft.step_down(api, name, preferred)
    after = await raft.new_leader(lambda: streams.info(api, name), leader)
    env.say(f"{after} leads again" if after == leader else f"New leader elected: {after}")
    return view.sheet(await streams.info(api, name))
