"""`jsctl server cluster` and its commands."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import click

from jsctl.base.command_lines import build_line
from jsctl.base.units import pluralize
from jsctl.commands.cli import DURATION, argument, command, destructive, option
from jsctl.commands.observers import leaders
from jsctl.commands.options.data_loss import Losing, LossOptions, describe_losses, loss_flags
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus, JsctlError, NotFound
from jsctl.jetstream.cluster.meta import build_meta_group, check_follower, evacuate_server, remove_server
from jsctl.jetstream.message.data_loss import UNKNOWN, measure_stream
from jsctl.monitor.server.balance import KINDS, Load, Selection, close_surplus, plan_balance
from jsctl.monitor.server.meta import fetch_led_meta, fetch_meta
from jsctl.monitor.server.requests import fetch_jetstream
from jsctl.monitor.server.rescue import RescueResult, plan_rescue, rescue_quorum
from jsctl.monitor.server.stored import fetch_only_copies, fetch_server_storage
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
@option(
    "--idle",
    type=DURATION,
    default=0,
    selects=True,
    metavar="DURATION",
    help="Only connections idle for longer",
)
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


@command("evacuate", examples=["jsctl server cluster evacuate n3"])
@argument("name", metavar="SERVER")
@destructive("Do not ask")
async def evacuate(env: Env, name: str, force: bool) -> Result:
    """Move streams and consumers away, so that the server can be taken out of the cluster; those with one
    replica are moved, too, without loss. The move continues after this command has ended: jsctl server report
    jetstream shows its progress. If no other server has room, a stream has one replica less. SERVER is a name
    or an ID. A login of the system account, and nats-server 2.15, are needed.
    """
    api = await env.jetstream()
    meta = await fetch_led_meta(await env.connection(), api.domain)
    peers = {str(peer.get("name")): str(peer.get("peer", "")) for peer in meta.get("replicas") or ()}
    peers.setdefault(str(meta.get("leader") or ""), str(meta.get("peer", "")))
    if name not in peers and name not in peers.values():
        raise NotFound(f"the meta group has no server {name!r}", f"its servers: {', '.join(sorted(peers))}")
    if env.dry_run or not force:
        stored = await fetch_server_storage(await env.connection(), api.domain, name)
        await env.confirm(intents.evacuate(name, stored), force=force)
    await evacuate_server(api, name)
    return Result(
        [Text(f"The streams and consumers of server {name} are being moved")], data={"evacuated": name}
    )


_QUORUMS = (
    Column("Server", "server"),
    Column("Quorum Before", "prev_quorum", "number"),
    Column("Quorum", "new_quorum", "number"),
    Column("Error", "error", "prose", optional=True),
)


def _show_rescued(results: Sequence[RescueResult]) -> Result:
    """Show the answer of each server; the status is a failure if one of them refused."""
    status = ExitStatus.FAILURE if any(result.error for result in results) else ExitStatus.OK
    return Result([Table("Meta Group Quorum", _QUORUMS, results, empty="Nothing was changed")], status=status)


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
        reason = f"the meta group has a leader, {plan.leader}"
        hint = "jsctl server cluster peer-remove works without a rescue"
        if quorum:
            raise JsctlError(reason, hint)
        env.say(f"{reason}: no rescue is needed; {hint}")
        return _show_rescued([])
    if new_quorum >= plan.quorum:
        raise BadInput(
            f"--quorum {new_quorum} is not below the present quorum of {plan.quorum}",
            f"{len(plan.servers)} of {plan.size} servers are online",
        )
    await env.confirm(intents.rescue(plan, new_quorum), force=force)
    return _show_rescued(await rescue_quorum(connection, new_quorum, len(plan.servers)))


@command("step-down", examples=["jsctl server cluster step-down", "jsctl server cluster step-down --host n2"])
@option("--cluster", metavar="CLUSTER", default="", help="Prefer a leader in this cluster")
@option("--tags", metavar="TAG", multiple=True, help="Prefer a leader with this tag; may be repeated")
@option("--host", metavar="NAME", default="", help="Prefer this server as the leader")
@destructive("Proceed even if no leader is known", "Only show which leader would step down")
async def step_down(env: Env, cluster: str, tags: tuple[str, ...], host: str, force: bool) -> Result:
    """Make the leader of the meta group, which places streams and consumers, step down. A login of the system
    account is needed.
    """
    if host and (cluster or tags):
        raise BadInput("--host cannot be used with --cluster and --tags", "a server determines the others")
    api, connection = await env.jetstream(), await env.connection()

    async def fetch() -> dict[str, object]:
        return await fetch_meta(connection, api.domain)

    change = await leaders.step_down(
        env, build_meta_group(api, fetch, cluster=cluster, tags=tags), host, force
    )
    return Result(data={"old_leader": change.old_leader, "new_leader": change.new_leader})


@command("peer-remove", examples=["jsctl server cluster peer-remove n3"])
@argument("name", metavar="SERVER")
@loss_flags
@destructive("Remove without asking, even a server that is online")
async def peer_remove(env: Env, name: str, permits: LossOptions, force: bool) -> Result:
    """Remove a server from the meta group for good: its streams and consumers get replicas on other servers.
    Streams with one replica are created there again, without messages; if the server is offline, nobody knows
    how many it has. SERVER is a name or an ID. A login of the system account is needed.
    """
    api = await env.jetstream()
    meta = await fetch_led_meta(await env.connection(), api.domain)
    peer = check_follower(meta, name)
    name, is_online = str(peer.get("name") or name), not peer.get("offline")
    if is_online and not force:
        raise JsctlError(f"server {name} is online", "stop it first, or use --force")
    losing = [Losing(f"server {name}", {"config": {"name": name}}, UNKNOWN)]
    if is_online:
        copies = await fetch_only_copies(await env.connection(), api.domain, name)
        losing = [Losing(f"Stream {info['name']}", info, measure_stream(info)) for info in copies]
    intent = intents.peer_remove(name, describe_losses(losing), online=is_online)
    await permits.confirm(env, intent, losing, force=force)
    await remove_server(api, meta, name)
    env.inform(f"server {name} was removed")
    return Result(data={"removed": name})
