"""`jsctl rtt`."""

from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor import rtt as domain
from jsctl.views.message import rtt as view
from jsctl.views.result import Result


@command("rtt", examples=["jsctl rtt", "jsctl rtt 20 --context hub", "jsctl rtt --json"])
@argument("iterations", type=int, default=5)
async def rtt(env: Env, iterations: int) -> Result:
    """A host name is looked up, and each of its addresses is tried. Where none can be reached or logged in
    to, the exit status says why.
    """
    if iterations < 1:
        raise BadInput("ITERATIONS must be 1 or more")
    targets = await domain.resolve_targets(env.settings())
    for address in (address for target in targets for address in target.addresses):
        await domain.measure(env.settings(), address, iterations)
    tried = [address for target in targets for address in target.addresses]
    failures = [address.failure for address in tried if address.failure]
    for address in tried if len(tried) > 1 else ():
        if address.failure:
            env.say(f"Failed to compute rtt for {address.address}: {address.failure}")
    if failures and len(failures) == len(tried):
        raise failures[-1]
    return view.result(targets)
