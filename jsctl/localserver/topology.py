"""Networks as data: their servers, ports, configurations and logins.

In configurations and files `@node.purpose@` stands for a port: `@hub.client@`, `@hub.leafnodes@`. Their
paths are relative to the folder of the network, in which the servers run.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

CLIENT = "client"  #: the purpose of the port that clients connect to


@dataclass(frozen=True, slots=True)
class Node:
    """One server. Its configuration goes to `<name>.conf`, its output to `<name>.log`.

    ports: the default port of each purpose. file: an existing configuration, which is used as it is.
    """

    name: str
    ports: Mapping[str, int] = field(default_factory=dict)
    config: str = ""
    domain: str = ""
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class Login:
    """A context to write, and what it must reach before the network is ready.

    domains: JetStream domains that must reply ("" for that of the server).
    servers: how many servers must reply to this login, which is one of the system account.
    """

    name: str
    node: str
    description: str
    user: str = ""
    password: str = field(default="", repr=False)
    domains: tuple[str, ...] = ()
    servers: int = 0


@dataclass(frozen=True, slots=True)
class Topology:
    """A network. nodes: in the order in which they start. files: what their configurations include."""

    name: str
    nodes: tuple[Node, ...]
    logins: tuple[Login, ...]
    files: Mapping[str, str] = field(default_factory=dict)


def single(name: str = "local", domain: str = "") -> Topology:
    """Return one server with JetStream. User `local` needs no login; user `admin` has the system account."""
    in_domain = f"\n    domain: {domain}" if domain else ""
    config = f"""listen: "127.0.0.1:@server.client@"
server_name: {name}
jetstream {{
    store_dir: "."{in_domain}
}}
accounts {{
    SYS: {{
        users: [{{user: admin, password: admin}}]
    }}
    LOCAL: {{
        users: [{{user: local, password: local}}]
        jetstream: enabled
    }}
}}
system_account: SYS
no_auth_user: local
"""
    return Topology(
        name,
        (Node("server", {CLIENT: 4222}, config, domain),),
        (
            Login(name, "server", "Local server", domains=("",)),
            Login(f"{name}-system", "server", "Local server, system account", "admin", "admin", servers=1),
        ),
    )


def as_configured(file: Path, name: str = "local") -> Topology:
    """Return one server with a configuration of the user's, whose logins are not known."""
    return Topology(
        name,
        (Node("server", file=file),),
        (Login(name, "server", f"Local server on {file.name}"),),
    )


_ACCOUNTS = """accounts {
    SYS: {
        users: [{user: admin, password: admin}]
    }
    ACC: {
        users: [{user: acc, password: acc}]
        jetstream: enabled
    }
}
system_account: SYS
"""

_HUB = """listen: "127.0.0.1:@hub.client@"
server_name: hub-server
jetstream {
    store_dir: "./store_server"
    domain: hub
}
leafnodes {
    listen: "127.0.0.1:@hub.leafnodes@"
}
include ./accounts.conf
"""

_LEAF = """listen: "127.0.0.1:@leaf.client@"
server_name: leaf-server
jetstream {
    store_dir: "./store_leaf"
    domain: leaf
}
leafnodes {
    reconnect: "1s"
    remotes: [
        {
            urls: ["nats-leaf://admin:admin@127.0.0.1:@hub.leafnodes@"]
            account: SYS
        }
        {
            urls: ["nats-leaf://acc:acc@127.0.0.1:@hub.leafnodes@"]
            account: ACC
        }
    ]
}
include ./accounts.conf
"""


def hub_leaf(name: str = "") -> Topology:
    """Return the pair of the leaf node guide: domain `hub`, and domain `leaf` behind a leaf node connection.

    The configurations are those of the guide, except that the servers listen on this machine only and that
    the leaf node looks for a lost hub every second.
    """
    prefix = f"{name}-" if name else ""
    both = ("hub", "leaf")
    return Topology(
        name or "hub-leaf",
        (
            Node("hub", {CLIENT: 4222, "leafnodes": 7422}, _HUB, "hub"),
            Node("leaf", {CLIENT: 4111}, _LEAF, "leaf"),
        ),
        (
            Login(f"{prefix}hub", "hub", "Local hub", "acc", "acc", domains=both),
            Login(f"{prefix}leaf", "leaf", "Local leaf node", "acc", "acc", domains=both),
            Login(f"{prefix}system", "hub", "Local hub, system account", "admin", "admin", servers=2),
        ),
        {"accounts.conf": _ACCOUNTS},
    )


TOPOLOGIES: Mapping[str, Callable[[str], Topology]] = {"hub-leaf": hub_leaf}
"""Networks by the name that `jsctl server run` takes. The functions take a name of the user's."""


def fill(text: str, ports: Mapping[str, int]) -> str:
    """Return a configuration with its ports filled in. ports: such as `hub.client` -> 4222."""
    for purpose, port in ports.items():
        text = text.replace(f"@{purpose}@", str(port))
    return text
