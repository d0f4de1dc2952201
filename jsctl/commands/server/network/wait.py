"""`jsctl server network wait`."""

from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.server.network.choose import network_argument
from jsctl.env import Env
from jsctl.localserver.networks import find_network
from jsctl.localserver.status import wait_until_ready
from jsctl.units import SECOND
from jsctl.views.result import Result


@command("wait", examples=["jsctl server network wait hub-leaf", "jsctl server network wait --for 30s"])
@network_argument
@option("--for", "span", type=DURATION, default="2m", show_default=True, help="Maximum time to wait")
async def wait(env: Env, network: str, span: int) -> Result:
    """Wait until every server that should run is healthy, every JetStream domain and stream has a leader, and
    mirrors and sources have copied everything. Exit with 1 if that takes too long, and say what is missing.
    """
    local = find_network(env.environ, network)
    await wait_until_ready(local, env.say, seconds=span / SECOND)
    return Result(data={"network": local.state.name, "ready": True})
