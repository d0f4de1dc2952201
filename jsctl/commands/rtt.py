"""`jsctl rtt`."""

from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.rtt import measure_targets
from jsctl.views.message import rtt as view
from jsctl.views.result import Result


@command("rtt", examples=["jsctl rtt", "jsctl rtt 20 --context hub", "jsctl rtt --json"])
@argument("iterations", type=int, default=5)
async def rtt(env: Env, iterations: int) -> Result:
    """Resolve a host name, and try each of its addresses. If none can be reached or logged in to, the exit
    status says why.
    """
    if iterations < 1:
        raise BadInput("ITERATIONS must be 1 or more")
    targets = await measure_targets(env.settings(), iterations, lambda failed: env.say(view.failure(failed)))
    return view.result(targets)
