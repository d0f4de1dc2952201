"""`jsctl server cluster balance`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import click

from jsctl.base.command_lines import build_line
from jsctl.base.units import pluralize
from jsctl.commands.cli import DURATION, argument, command, destructive, option
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus, JsctlError
from jsctl.monitor.server.balance import KINDS, Load, Selection, close_surplus, plan_balance
from jsctl.views.result import Column, Result, Table, Text
from jsctl.views.server import intents

_COLUMNS = (
    Column("Cluster", "cluster"),
    Column("Server", "server"),
    Column("Connections", "connections", "count"),
    Column("Share", "share", "count"),
    Column("Surplus", "surplus", "count"),
    Column("Closed", "closed", "count"),
)


def _show_balance(loads: Sequence[Load], closed: Mapping[str, int]) -> Result:
    """Show what was done. closed: how many connections of a server were closed, by its ID."""
    rows = [
        (load.cluster, load.server, len(load.clients), load.share, len(load.surplus), closed.get(load.id, 0))
        for load in loads
    ]
    total, surplus = sum(closed.values()), sum(len(load.surplus) for load in loads)
    summary = f"Balanced {pluralize(total, 'connection')}." if surplus else "The connections are balanced."
    table = Table("Connections", _COLUMNS, rows)
    status = ExitStatus.OK if total == surplus else ExitStatus.FAILURE
    return Result([table, Text(summary)], data={"balanced": total, "servers": table.records()}, status=status)


@dataclass(frozen=True, slots=True)
class Options:
    duration: int
    server_name: str
    cluster: str
    idle: int
    account: str
    subject: str
    kind: tuple[str, ...]
    force: bool

    def __post_init__(self) -> None:
        if self.subject and not self.account:
            raise BadInput("--subject needs --account", "subjects belong to accounts")


@command(
    "balance",
    examples=["jsctl server cluster balance", "jsctl server cluster balance 10m --cluster east --idle 1m"],
)
@argument("duration", type=DURATION, required=False, default=0)
@option(
    "--server-name", metavar="NAME", default="", selects=True, help="Close connections of this server only"
)
@option("--cluster", metavar="NAME", default="", selects=True, help="Only this cluster")
@option("--idle", type=DURATION, default=0, metavar="DURATION", help="Only connections idle for longer")
@option("--account", metavar="ACCOUNT", default="", selects=True, help="Only connections of this account")
@option(
    "--subject",
    metavar="SUBJECT",
    default="",
    selects=True,
    help="Only connections that subscribe to this subject",
)
@option(
    "--kind",
    type=click.Choice(KINDS),
    multiple=True,
    default=["Client"],
    help="Only this kind (Client); may be repeated",
)
@destructive("Do not ask")
async def balance(env: Env, options: Options) -> Result:
    """Close connections of servers that have more than their share of their cluster's connections, the
    longest idle first. Clients connect again at once, most of them to another server; what they do may be
    interrupted. With DURATION this is spread over that time. A login of the system account is needed.
    """
    connection = await env.connection()
    selection = Selection(
        options.server_name, options.cluster, options.idle, options.account, options.subject, options.kind
    )
    loads = await plan_balance(connection, selection)
    if not loads:
        raise JsctlError("there is no cluster to balance", f"{build_line('server list')} shows the servers")
    if options.server_name and options.server_name not in {load.server for load in loads}:
        raise BadInput(
            f"no cluster has a server {options.server_name!r}", f"{build_line('server list')} shows them"
        )
    surplus = sum(len(load.surplus) for load in loads)
    if surplus or env.dry_run:
        clusters = len({load.cluster for load in loads})
        await env.confirm(intents.balance(surplus, clusters), force=options.force)
    closed: Counter[str] = Counter()
    with env.progress("Balancing", surplus) as advance:
        async for load, client, failure in close_surplus(connection, loads, options.duration):
            closed[load.id] += failure is None
            if failure is not None:
                env.say(f"connection {client.cid} of {load.server} was not closed: {failure.message}")
            advance(1)
    return _show_balance(loads, closed)
