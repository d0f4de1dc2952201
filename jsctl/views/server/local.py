"""`server run`: the servers that run, and how to reach them."""

from jsctl.base.command_lines import build_flag, build_line
from jsctl.localserver.network import Network, Server
from jsctl.views.result import Column, Result, Table

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


def cautions(network: Network) -> list[str]:
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
