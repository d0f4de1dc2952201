"""`jsctl server network wait`."""

from jsctl.base.units import SECOND
from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.server.network.choose import network_argument
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.localserver.networks import find_network
from jsctl.localserver.ready import wait_until_ready
from jsctl.views.result import Result


@command("wait", examples=["jsctl server network wait hub-leaf", "jsctl server network wait --for 30s"])
@network_argument
@option("--for", "span", type=DURATION, default="3m", show_default=True, help="Maximum time to wait")
async def wait(env: Env, network: str, span: int) -> Result:
    """Wait until every server that should run is healthy, links are up, messages pass between all servers,
    and every mirror, source and replica has what its origin had when this began. Exit with 1 if that takes
    too long, and say what is missing.

    After an outage of more than 10 seconds nats-server asks for a mirror's origin again after 10, 20, 30, ...
    120 seconds, and waits up to 30 for each answer: that alone may take a minute.
    """
    if span < 0:
        raise BadInput("--for must be 0 or more")
    local = find_network(env.environ, network)
    await wait_until_ready(local, env.inform, seconds=span / SECOND)
    return Result(data={"network": local.state.name, "ready": True})
