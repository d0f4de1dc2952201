"""`jsctl server cluster rescue`."""

from collections.abc import Sequence

import click

from jsctl.commands.cli import command, destructive, option
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus, JsctlError
from jsctl.monitor.server.requests import fetch_jetstream
from jsctl.monitor.server.rescue import RescueResult, plan_rescue, rescue_quorum
from jsctl.views.result import Column, Result, Table
from jsctl.views.server import intents

_COLUMNS = (
    Column("Server", "server"),
    Column("Quorum Before", "prev_quorum", "number"),
    Column("Quorum", "new_quorum", "number"),
    Column("Error", "error", "prose", optional=True),
)


def _show_rescued(results: Sequence[RescueResult]) -> Result:
    """Show the answer of each server; the status is a failure if one of them refused."""
    status = ExitStatus.FAILURE if any(result.error for result in results) else ExitStatus.OK
    return Result([Table("Meta Group Quorum", _COLUMNS, results)], status=status)


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
    return _show_rescued(await rescue_quorum(connection, new_quorum, len(plan.servers)))
