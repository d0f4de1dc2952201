"""`jsctl server cluster rescue`."""

import click

from jsctl.commands.cli import command, destructive, option
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.monitor.server.requests import fetch_jetstream
from jsctl.monitor.server.rescue import plan_rescue, rescue_quorum
from jsctl.views.result import Result
from jsctl.views.server import intents
from jsctl.views.server import rescue as view


@command(
    "rescue",
    examples=["jsctl server cluster rescue", "jsctl server cluster rescue --quorum 2 --force"],
)
@option(
    "--quorum",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="Number of servers that suffice (those online)",
)
@destructive("Do not ask")
async def rescue(env: Env, quorum: int | None, force: bool) -> Result:
    """Let fewer servers suffice for five minutes, in a meta group that lost most of its servers for good, so
    that no leader can be elected. Meanwhile remove the lost servers with jsctl server cluster peer-remove.
    Servers that still run elsewhere then split the group and lose data. A login of the system account, and
    nats-server 2.15, are needed.
    """
    connection = await env.connection()
    api = await env.jetstream()
    plan = plan_rescue(await fetch_jetstream(connection), api.domain)
    if not plan.servers:
        raise JsctlError("the servers are not clustered", "there is no meta group")
    new_quorum = quorum or len(plan.servers)
    if plan.leader and not force:
        raise JsctlError(
            f"the meta group has a leader, {plan.leader}",
            "jsctl server cluster peer-remove works without a rescue",
        )
    if new_quorum >= plan.quorum:
        raise BadInput(
            f"--quorum {new_quorum} is not below the present quorum of {plan.quorum}",
            f"{len(plan.servers)} of {plan.size} servers are online",
        )
    await env.confirm(intents.rescue(plan, new_quorum), force=force)
    return view.rescued(await rescue_quorum(connection, new_quorum, len(plan.servers)))
