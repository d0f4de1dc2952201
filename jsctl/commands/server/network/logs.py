"""`jsctl server network logs`."""

import asyncio

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.server.network.choose import choose_network
from jsctl.env import Env
from jsctl.localserver import folder
from jsctl.localserver.networks import find_network
from jsctl.localserver.state import NodeState
from jsctl.views.result import Result, Text


@command("logs", examples=["jsctl server network logs srv-4222", "jsctl server network logs hub --follow"])
@argument("servers", nargs=-1, metavar="[SERVER|CLUSTER]...")
@option("--follow", "-F", is_flag=True, help="Keep showing new lines until ctrl-C")
@option(
    "--lines",
    "-l",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Last lines of each server",
)
@choose_network
async def logs(env: Env, servers: tuple[str, ...], follow: bool, lines: int, network: str) -> Result | None:
    local = find_network(env.environ, network)
    nodes = local.state.select(servers)
    shown = [
        f"{node.name}: {line}"
        for node in nodes
        for line in folder.last_lines(local.folder / f"{node.name}.log", lines)
    ]
    if not follow:
        return Result([Text("\n".join(shown), whole=True)] if shown else [], data=shown)
    for line in shown:
        env.say(line)

    async def tail(node: NodeState) -> None:
        async for line in folder.follow_log(local.folder / f"{node.name}.log", at_end=True):
            env.say(f"{node.name}: {line}")

    async with asyncio.TaskGroup() as group:
        for node in nodes:
            group.create_task(tail(node))
    return None
