"""`jsctl server run`."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import click

from jsctl.base.command_lines import build_flag, build_line
from jsctl.base.signals import Stopped, stoppable
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, option
from jsctl.commands.places.repeat import warn_of_variables
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.localserver import binary, folder
from jsctl.localserver.compile import compile_network
from jsctl.localserver.network import Ended, Network, Plan, Server
from jsctl.localserver.short_forms import build_single_server, check_name, load_named
from jsctl.localserver.spec import NetworkSpec
from jsctl.localserver.topology import Topology, build_configured_topology
from jsctl.views.events import Events, results
from jsctl.views.result import Column, Result, Table, Text

_SERVERS = (
    Column("Server", "name"),
    Column("URL", "url", "url"),
    Column("Domain", "domain"),
    Column("Process", "pid", "number", hideable=1),
    Column("Log", "log", hideable=2),
)
_CONTEXTS = (
    Column("Context", "context"),
    Column("Description", "description", "prose"),
    Column("Server", "server"),
)


def running(network: Network) -> Result:
    """Show the servers of a network and the contexts that reach them."""
    servers = [
        {
            "name": server.info.get("server_name", server.node.name),
            "url": server.url,
            "domain": server.info.get("domain", ""),
            "pid": server.pid,
            "log": str(server.log),
        }
        for server in network.servers.values()
    ]
    contexts = [
        {"context": network.contexts[login.name], "description": login.description, "server": login.node}
        for login in network.plan.topology.logins
    ]
    return Result(
        [
            Table(
                "Local Servers",
                _SERVERS,
                [[server[c.key] for c in _SERVERS] for server in servers],
            ),
            Table("Contexts", _CONTEXTS, [[context[c.key] for c in _CONTEXTS] for context in contexts]),
        ],
        data={"folder": str(network.folder), "servers": servers, "contexts": contexts},
    )


def list_warnings(network: Network) -> list[str]:
    """Return sentences about the user's files and contexts that were left unchanged, and about what a
    configuration of theirs lacks or needs."""
    first, first_context = _get_first(network)
    sentences = [f"{network.folder / name} was edited, and is used unchanged" for name in network.edited]
    for context, used in network.contexts.items():
        if context != used:
            sentences.append(
                f"context {context!r} was not created by jsctl and stays; this server's is {used!r}"
            )
    if first.node.file and first.info and not first.info.get("jetstream"):
        sentences.append(f"JetStream is off in {first.node.file}")
    if _needs_login(first):
        line = build_line("context edit", first_context)
        sentences.append(f"{first.node.file} requires a login; add one with {line}")
    return sentences


def notes(network: Network, version: str, *, background: bool) -> list[str]:
    """Return sentences about a running network.

    version: that of nats-server. background: jsctl itself ends now, the servers continue to run.
    """
    first, context = _get_first(network)
    files = "logs are" if first.node.file and not network.plan.store else "data is"
    next_line = f"try: {build_line('stream ls', place=build_flag('--context', context))}"
    stop = f"{build_line('server stop', context)} stops them" if background else "ctrl-C stops them"
    return [
        f"nats-server {version} runs; {files} in {network.folder}",
        *([] if _needs_login(first) else [next_line]),
        stop,
    ]


def _get_first(network: Network) -> tuple[Server, str]:
    """Return the first server, and the first context."""
    first = next(iter(network.servers.values()))
    return first, network.contexts[network.plan.topology.logins[0].name]


def _needs_login(server: Server) -> bool:
    return bool(server.node.file and server.info and server.info.get("auth_required"))


@dataclass(frozen=True, slots=True)
class Options:
    """The flags of `jsctl server run`. arguments: a topology, and arguments for nats-server."""

    arguments: tuple[str, ...]
    port: int | None
    store: str
    domain: str
    config: str
    name: str
    logs: bool
    background: bool

    @property
    def kind(self) -> str:
        """The name of the topology; empty for a single server."""
        return "" if not self.arguments or self.arguments[0].startswith("-") else self.arguments[0]

    @property
    def server_arguments(self) -> tuple[str, ...]:
        """The arguments for nats-server."""
        return self.arguments[1:] if self.kind else self.arguments

    def _build_spec(self) -> NetworkSpec | None:
        """Return the network to start; None for a configuration of the user's. Raises BadInput, NotFound."""
        if self.name:
            check_name(self.name)
        if self.kind:
            for flag, value in (("--domain", self.domain), ("--config", self.config)):
                if value:
                    raise BadInput(f"{flag} cannot be used with {self.kind}", f"{self.kind} has its own")
            return load_named(self.kind, self.name)
        if self.config:
            return None
        if self.domain and (not self.domain.isprintable() or any(c in " .*>{}#\"'@" for c in self.domain)):
            raise BadInput(
                f"{self.domain!r} is not a valid JetStream domain", "use letters, digits and dashes"
            )
        return build_single_server(self.name or "local", self.domain)

    def _build_topology(self) -> Topology:
        if self.domain:
            raise BadInput(
                "--domain and --config cannot be used together", "write the domain into the configuration"
            )
        file = expand_home(self.config)
        if not file.is_file():
            raise BadInput(f"there is no file {self.config}")
        return build_configured_topology(file, self.name or "local")

    def plan(self, env: Env) -> Plan:
        """Return where and how to start it. Raises BadInput, JsctlError."""
        if self.logs and self.background:
            raise BadInput(
                "--logs and --background cannot be used together", "the logs are in the folder of --store"
            )
        network = self._build_spec() or self._build_topology()
        data = expand_home(self.store) if self.store else folder.get_default(env.environ, network.name)
        data = data.absolute()
        folder.refuse_in_use(data)
        return Plan(
            compile_network(network, data) if isinstance(network, NetworkSpec) else network,
            data,
            port=self.port,
            store=data if self.store and self.config else None,
            extra=self.server_arguments,
            temporary=self.port == 0,
            source=self.kind,
        )


@command(
    "run",
    examples=[
        "jsctl server run",
        "jsctl server run hub-leaf --port 0",
        "jsctl server run hub-leaf --background",
        "jsctl server run --store ./data --domain hub",
        "jsctl server run --config my.conf -- --http_port 8222",
    ],
)
@option("--port", "-p", type=click.IntRange(0, 65535), help="Port of the first server (4222); 0: free ports")
@option("--store", metavar="DIR", default="", help="Folder for data, configurations and logs")
@option("--domain", metavar="DOMAIN", default="", help="JetStream domain of the server")
@option("--config", metavar="FILE", default="", help="nats-server configuration to use unchanged")
@option("--name", metavar="NAME", default="", help="Name of the contexts and of the default folder (local)")
@option("--logs", is_flag=True, help="Show the servers' logs")
@option("--background", is_flag=True, help="Return once the servers run; jsctl server stop ends them")
@argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[TOPOLOGY] [-- NATS-SERVER ARGUMENTS]")
async def run(env: Env, options: Options) -> Events[Result]:
    """Start one server, which needs no login, or those of a TOPOLOGY: hub-leaf is the two servers of the leaf
    node guide, domain hub on port 4222 and domain leaf on port 4111, with the users acc/acc and admin/admin.

    A context is written for each login. It is kept when the servers stop, because the next run has the same
    address; with free ports it is removed. Your own contexts are never changed. Data goes to
    ~/.local/share/jsctl/NAME, or to the folder of --store.
    """
    plan = options.plan(env)
    return results(_run_network(env, options, plan, binary.find(env.environ)))


async def _run_network(
    env: Env, options: Options, plan: Plan, server: binary.Binary
) -> AsyncGenerator[Result, None]:
    """Start a network, yield a description of what runs, and wait for its end or ctrl-C."""
    tell = env.inform if options.background else env.say
    try:
        async with stoppable(), Network.start(plan, server, env.environ) as network:
            yield running(network)
            for sentence in list_warnings(network):
                env.say(sentence)
            for sentence in notes(network, server.version, background=options.background):
                tell(sentence)
            warn_of_variables(env, network.contexts.values())
            if options.background:
                await network.leave()
                return
            async with asyncio.TaskGroup() as group:
                followed = network.servers.values() if options.logs else ()
                tails = [group.create_task(_show_log(env, followed_server)) for followed_server in followed]
                failure = await network.wait_for_failure()
                for tail in tails:
                    tail.cancel()
            if failure:
                raise failure
        env.say("stopped")
    except Ended as ended:
        yield Result([Text(str(ended).rstrip())])
    except Stopped:
        env.say("stopped")  # ctrl-C is the ordinary end of a server in the foreground


async def _show_log(env: Env, server: Server) -> None:
    """Show the lines of a server's log until cancelled."""
    async for line in folder.follow_log(server.log):
        env.say(f"{server.node.name}: {line}")
