"""`server network`: networks on this machine as people see them."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from jsctl.base.command_lines import build_line
from jsctl.localserver.networks import LocalNetwork
from jsctl.localserver.status import NetworkStatus, ServerStatus
from jsctl.views.events import End, Events, Presentation
from jsctl.views.result import Cell, Column, Result, Style, Table, Text

NETWORKS = (
    Column("Network", "network"),
    Column("Status", "status"),
    Column("Servers", "servers", "number"),
    Column("Up", "up", "number"),
    Column("Folder", "folder", hideable=1),
)
SERVERS = (
    Column("Cluster", "cluster", hideable=1),
    Column("Server", "server"),
    Column("Domain", "domain", hideable=2),
    Column("Status", "status"),
    Column("Leader", "meta_leader"),
    Column("Health", "health", "prose", hideable=2),
    Column("Leafs", "leafnodes", "number", hideable=3),
    Column("GWs", "gateways", "number", hideable=4),
    Column("Streams", "streams", "number", hideable=5),
    Column("URL", "url", "url", hideable=6),
)
_LINKS = (Column("Link", "link"), Column("Kind", "kind"), Column("Status", "status"))
_STREAMS = (
    Column("Domain", "domain"),
    Column("Account", "account", hideable=3),
    Column("Stream", "stream"),
    Column("Leader", "leader", hideable=1),
    Column("Replicas", "replicas", hideable=2),
    Column("Messages", "messages", "count"),
    Column("Lag", "lag_messages", "count"),
)
_CONTEXTS = (
    Column("Context", "context"),
    Column("Description", "description", "prose"),
    Column("URL", "url", "url", hideable=1),
)
NO_LINKS = (
    "disturb servers with jsctl server network pause and kill; hub-leaf, hub-spokes and supercluster have"
    " links, and `links: [leaf, gateway, client]` in your own file creates them"
)
_STYLES: Mapping[str, Style] = {
    "up": "good",
    "paused": "warn",
    "lame duck": "warn",
    "stopped": "dim",
    "killed": "bad",
    "ended": "bad",
}


def listing(networks: Sequence[LocalNetwork]) -> Result:
    """Show the networks of this machine."""
    rows = []
    for network in networks:
        up = sum(network.get_status(node) == "up" for node in network.state.nodes)
        status = "up" if up == len(network.state.nodes) else "partly up" if up else "down"
        rows.append((network.state.name, status, len(network.state.nodes), up, str(network.folder)))
    if not rows:
        text = Text(
            f"There is no local network. Start one with {build_line('server network up', 'hub-leaf')}."
        )
        return Result([text], data=[])
    return Result([Table("Local Networks", NETWORKS, rows)])


def started(network: LocalNetwork, contexts: Sequence[Mapping[str, Any]]) -> Result:
    """Show the servers of a network that was started, and its contexts."""
    nodes = network.state.nodes
    columns = (SERVERS[0], SERVERS[1], SERVERS[2], SERVERS[-1])
    rows = [(node.cluster, node.name, node.domain, node.url) for node in nodes]
    lines = [[context[column.key] for column in _CONTEXTS] for context in contexts]
    return Result(
        [
            Table(f"Network {network.state.name}", columns, rows),
            Table("Contexts", _CONTEXTS, lines),
        ],
        data={
            "network": network.state.name,
            "folder": str(network.folder),
            "servers": [dict(zip((column.key for column in columns), row, strict=True)) for row in rows],
            "contexts": [dict(context) for context in contexts],
        },
    )


def status(network: NetworkStatus) -> Result:
    """Draw a network: servers by cluster, links, streams."""
    state = network.network.state
    tables = [
        Table(
            f"Network {state.name}",
            SERVERS,
            [_build_server_row(server) for server in network.servers],
        )
    ]
    if network.links:
        rows = [(name, link["kind"], _link(link)) for name, link in network.links.items()]
        tables.append(Table("Links", _LINKS, rows))
    if network.streams:
        lines = [
            (
                stream.domain,
                stream.account,
                stream.name,
                stream.leader,
                Cell(
                    stream.replicas,
                    f"{stream.current}/{stream.replicas}",
                    "" if stream.current == stream.replicas else "bad",
                ),
                stream.messages,
                stream.lag
                if stream.lag is not None
                else Cell(None, "unknown" if stream.origins else "", "bad"),
            )
            for stream in network.streams
        ]
        tables.append(Table("Streams", _STREAMS, lines))
    return Result(tables, data={"network": state.name, **_map_tables(tables)})


def link_states(network: LocalNetwork) -> Result:
    """Show the links of a network, or what to do if it has none."""
    if not network.state.links:
        return Result([Text(f"Network {network.state.name} has no links: {NO_LINKS}")], data=[])
    rows = [(name, link["kind"], _link(link)) for name, link in network.state.links.items()]
    return Result([Table("Links", _LINKS, rows)])


def _map_tables(tables: Sequence[Table]) -> dict[str, Any]:
    names = {"Links": "links", "Streams": "streams"}
    return {names.get(table.title, "servers"): table.records() for table in tables}


def _build_server_row(server: ServerStatus) -> tuple[Any, ...]:
    node = server.node
    style = _STYLES[server.status]
    health = server.error or ("ok" if server.answers else "does not answer" if server.status == "up" else "")
    healthy: Style = "good" if health == "ok" else "bad"
    return (
        node.cluster,
        node.name,
        node.domain,
        Cell(server.status, server.status, style),
        Cell(server.leads, "leader" if server.leads else ""),
        Cell(health or None, health, healthy),
        server.leafs,
        server.gateways,
        server.streams,
        node.url,
    )


def _link(link: Mapping[str, Any]) -> Cell:
    if link.get("down"):
        return Cell("down", "down", "bad")
    if link.get("drop"):
        return Cell("drop", "drop: nothing passes", "bad")
    parts = [f"without {', '.join(link['without'])}"] if link.get("without") else []
    if link.get("delay_ms"):
        parts.append(f"delay {link['delay_ms']}ms")
    if link.get("limit"):
        parts.append(f"limit {link['limit']:,} bytes per second")
    return Cell(", ".join(parts) or "up", ", ".join(parts) or "up", "warn" if parts else "good")


def log_lines(batches: AsyncIterator[Sequence[str]]) -> Events[str]:
    """Return the lines of `server network logs --follow`."""
    return Events(
        batches=batches,
        shown=Presentation(text=lambda line: f"{line}\n", record=str),
        end=End(endless=True, noun="line"),
    )
