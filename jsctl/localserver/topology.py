"""A network that is ready to start, as data: servers, ports, configurations, links and logins.

In configurations and files `@node.purpose@` stands for a port: `@hub.client@`, `@hub.leafnodes@`. Their
paths are relative to the folder of the network, in which the servers run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

CLIENT = "client"  #: the purpose of the port that clients connect to


@dataclass(frozen=True, slots=True)
class Node:
    """One server. Its configuration goes to `<name>.conf`, its output to `<name>.log`.

    ports: the default port of each purpose; 0 for any free one. cluster: of the network's description.
    file: an existing configuration, which is used as it is. binary: its own nats-server; empty for that of
    the network.
    """

    name: str
    ports: Mapping[str, int] = field(default_factory=dict)
    config: str = ""
    domain: str = ""
    file: Path | None = None
    cluster: str = ""
    binary: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """Connections that pass a relay. hops: purpose of the relay's port -> purpose of the port it leads to.

    ends: the clusters at its ends; for a gateway and for clients the one that they lead to. gateway: that
    cluster's name as its servers write it.
    """

    name: str
    kind: str
    hops: Mapping[str, str]
    ends: tuple[str, ...] = ()
    gateway: str = ""


@dataclass(frozen=True, slots=True)
class Login:
    """A context to write, and what it must reach before the network is ready.

    nodes: the servers that it connects to, the preferred first. port: the purpose of the port, of each node.
    creds, ca: paths of files. domains: JetStream domains that must reply ("" for that of the server).
    servers: how many servers must reply to this login, which is one of the system account.
    clusters: between whose servers its messages pass.
    """

    name: str
    nodes: tuple[str, ...]
    description: str
    user: str = ""
    password: str = field(default="", repr=False)
    creds: str = ""
    ca: str = ""
    domains: tuple[str, ...] = ()
    servers: int = 0
    port: str = "{node}." + CLIENT
    clusters: tuple[str, ...] = ()

    @property
    def node(self) -> str:
        """The first server."""
        return self.nodes[0]


@dataclass(frozen=True, slots=True)
class Topology:
    """A network. nodes: in the order in which they start. files: what their configurations include."""

    name: str
    nodes: tuple[Node, ...]
    logins: tuple[Login, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    links: tuple[Link, ...] = ()


def build_configured_topology(file: Path, name: str) -> Topology:
    """Return one server with a configuration of the user's, whose logins are unknown."""
    return Topology(
        name,
        (Node("server", file=file),),
        (Login(name, ("server",), f"Local server on {file.name}"),),
    )


def fill(text: str, ports: Mapping[str, int]) -> str:
    """Return a configuration with its ports filled in. ports: such as `hub.client` -> 4222."""
    for purpose, port in ports.items():
        text = text.replace(f"@{purpose}@", str(port))
    return text
