"""`jsctl server run`."""

import asyncio
from pathlib import Path

import click

from jsctl.commands.cli import argument, command, option
from jsctl.contexts.store import is_name
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.localserver import binary, folder
from jsctl.localserver.network import Ended, Network, Plan
from jsctl.localserver.topology import TOPOLOGIES, Topology, as_configured, single
from jsctl.signals import Stopped, stoppable
from jsctl.views.result import Result, Text
from jsctl.views.server import local as view


@command(
    "run",
    examples=[
        "jsctl server run",
        "jsctl server run hub-leaf --port 0",
        "jsctl server run --store ./data --domain hub",
        "jsctl server run --config my.conf -- --http_port 8222",
    ],
)
@option("--port", "-p", type=click.IntRange(0, 65535), help="Port of the first server (4222); 0: free ports")
@option("--store", metavar="DIR", default="", help="Folder for data, configurations and logs")
@option("--domain", metavar="DOMAIN", default="", help="JetStream domain of the server")
@option("--config", metavar="FILE", default="", help="nats-server configuration to use as it is")
@option("--name", metavar="NAME", default="", help="Name of the contexts and of the default folder (local)")
@option("--logs", is_flag=True, help="Show the servers' logs")
@argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[TOPOLOGY] [-- NATS-SERVER ARGUMENTS]")
async def run(
    env: Env,
    port: int | None,
    store: str,
    domain: str,
    config: str,
    name: str,
    logs: bool,
    arguments: tuple[str, ...],
) -> Result | None:
    """TOPOLOGY hub-leaf starts the leaf node guide's two servers: domain hub on port 4222 and domain leaf on
    4111, users acc/acc and admin/admin. Without it one server starts that needs no login.

    Contexts are written for each login. They stay when the servers stop, as the next run answers there;
    with free ports they go. A context of yours is never changed. Data is kept in
    ~/.local/share/jsctl/NAME unless --store names a folder.
    """
    topology, extra = _choose(arguments, domain, config, name)
    where = Path(store).expanduser() if store else folder.default(env.environ, topology.name)
    where = where.absolute()
    plan = Plan(
        topology,
        where,
        port=port,
        store=where if store and config else None,
        extra=extra,
        temporary=port == 0,
    )
    server = binary.find(env.environ)
    try:
        async with stoppable(), Network.start(plan, server, env.environ) as network:
            _tell(env, network, server.version)
            async with asyncio.TaskGroup() as group:
                shown = network.servers.values() if logs else ()
                tails = [group.create_task(_show_log(env, s.node.name, s.log)) for s in shown]
                failure = await network.failed()
                for tail in tails:
                    tail.cancel()
            if failure:
                raise failure
        env.say("stopped")
    except Ended as ended:
        return Result([Text(str(ended).rstrip())])
    except Stopped:
        env.say("stopped")  # ctrl-C is how a server in the foreground ends well
    return None


def _choose(
    arguments: tuple[str, ...], domain: str, config: str, name: str
) -> tuple[Topology, tuple[str, ...]]:
    """The topology, and what goes to nats-server."""
    if name and not is_name(name):
        raise BadInput(f"invalid name {name!r}", "use one without slashes, '..' or a leading dot")
    kind = "" if not arguments or arguments[0].startswith("-") else arguments[0]
    if not kind:
        if config:
            if domain:
                raise BadInput("--domain and --config exclude each other", "write the domain into the file")
            file = Path(config).expanduser()
            if not file.is_file():
                raise BadInput(f"there is no file {config}")
            return as_configured(file, name or "local"), arguments
        if domain and (not domain.isprintable() or any(c in " .*>{}#\"'" for c in domain)):
            raise BadInput(f"{domain!r} cannot be a JetStream domain", "use letters, digits and dashes")
        return single(name or "local", domain), arguments
    if kind not in TOPOLOGIES:
        raise BadInput(f"no topology {kind!r}", f"there is {', '.join(TOPOLOGIES)}")
    for flag, value in (("--domain", domain), ("--config", config)):
        if value:
            raise BadInput(f"{flag} cannot be used with {kind}", f"{kind} has its own")
    return TOPOLOGIES[kind](name), arguments[1:]


def _tell(env: Env, network: Network, version: str) -> None:
    """Say what runs and how to reach it."""
    for name in network.edited:
        env.say(f"{network.folder / name} was edited and is used as it is")
    for wanted, taken in network.contexts.items():
        if wanted != taken:
            env.say(f"context {wanted!r} is somebody else's and stays; this server's is {taken!r}")
    servers = [
        {
            "name": s.info.get("server_name", s.node.name),
            "url": s.url,
            "domain": s.info.get("domain", ""),
            "pid": s.pid,
            "log": str(s.log),
        }
        for s in network.servers.values()
    ]
    logins = [
        {"context": network.contexts[login.name], "description": login.description, "server": login.node}
        for login in network.plan.topology.logins
    ]
    env.emit(view.running(servers, logins, str(network.folder)))
    env.streams.stdout.flush()
    first = next(iter(network.servers.values()))
    context = logins[0]["context"]
    if first.node.file and first.info and not first.info.get("jetstream"):
        env.say(f"JetStream is off in {first.node.file}")
    if first.node.file and first.info.get("auth_required"):
        env.say(f"{first.node.file} asks for a login; jsctl context edit {context} adds one")
    kept = "logs are" if first.node.file and not network.plan.store else "data is"
    env.say(f"nats-server {version} runs; {kept} in {network.folder}")
    env.say(f"try: jsctl stream ls --context {context}        ctrl-C stops")


async def _show_log(env: Env, name: str, path: Path) -> None:
    """Follow a log until cancelled."""
    with path.open(encoding="utf-8", errors="replace") as log:
        while True:
            while line := log.readline():
                env.say(f"{name}: {line.rstrip()}")
            await asyncio.sleep(0.2)
