"""`jsctl server network logs`."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.server.network.choose import choose_network
from jsctl.env import Env
from jsctl.localserver import folder
from jsctl.localserver.networks import find_network
from jsctl.views.events import Events
from jsctl.views.result import Result, Text
from jsctl.views.server import network as view


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
async def logs(
    env: Env, servers: tuple[str, ...], follow: bool, lines: int, network: str
) -> Result | Events[str]:
    local = find_network(env.environ, network)
    files = {node.name: local.folder / f"{node.name}.log" for node in local.state.select(servers)}
    if follow:
        return view.log_lines(_follow(files, lines))
    last = [f"{name}: {line}" for name, path in files.items() for line in folder.read_last_lines(path, lines)]
    return Result([Text("\n".join(last), whole=True)] if last else [], data=last)


async def _follow(files: Mapping[str, Path], last: int) -> AsyncIterator[Sequence[str]]:
    """Yield the lines of logs as they are written, the last ones first."""
    lines: asyncio.Queue[str] = asyncio.Queue()

    async def read(name: str, path: Path) -> None:
        async for line in folder.follow_log(path, last):
            lines.put_nowait(f"{name}: {line}")

    async with asyncio.TaskGroup() as group:
        for name, path in files.items():
            group.create_task(read(name, path))
        while True:
            batch = [await lines.get()]
            while not lines.empty():
                batch.append(lines.get_nowait())
            yield batch
