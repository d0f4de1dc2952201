"""A network as its users describe it: a YAML file, or one that comes with jsctl.

    name: shop
    operator: OP                     # accounts and users are JWTs; without it they stand in the configuration
    accounts:
      SYS: {system: true, users: {admin: secret}}
      APP: {jetstream: true, users: {app: app}, exports: [...], imports: [...]}
    no_login: app                    # the user of clients without a login
    clusters:
      hub:   {domain: hub, servers: 3}
      leaf:  {domain: leaf, servers: [leaf], remotes: [{to: hub, user: app}]}
    gateways: [east, west]           # clusters that form a supercluster
    links: [leaf, gateway, client]   # which connections pass a relay, so that `link` can disturb them
    tls: {cert: server.pem, key: server.key, ca: ca.pem}
    contexts:
      hub: {cluster: hub, user: app}

`exports`, `imports`, `mappings`, `jetstream: {...}` and an account's `permissions: {USER: {...}}`, without an
operator, are in nats-server's own words.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Json = dict[str, Any]

LEAF, GATEWAY, CLIENT_LINK = "leaf", "gateway", "client"


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """A server.

    name: of its files. server_name: what it calls itself. ports: those that the description asks for, by
    purpose. store: JetStream's folder, relative to that of the network. binary: its nats-server.
    """

    name: str
    server_name: str
    store: str
    ports: Mapping[str, int]
    binary: str = ""


@dataclass(frozen=True, slots=True)
class Remote:
    """A leaf node connection: to the servers of a cluster, into the account of a user."""

    to: str
    user: str


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """Servers that form a cluster; one alone is not clustered. jetstream: options; None: off."""

    name: str
    cluster_name: str
    domain: str
    servers: tuple[ServerSpec, ...]
    remotes: tuple[Remote, ...]
    jetstream: Json | None
    monitoring: bool

    def resize(self, size: int) -> "ClusterSpec":
        """Return this cluster with another number of servers, or unchanged for 0.

        New servers are named `CLUSTER-N`.
        """
        servers = list(self.servers[:size]) if size else list(self.servers)
        names = {server.name for server in servers}
        number = len(servers)
        while len(servers) < size:
            number += 1
            name = f"{self.name}-{number}"
            if name not in names:
                servers.append(ServerSpec(name, name, f"store-{name}", {}, self.servers[0].binary))
        return replace(self, servers=tuple(servers))


@dataclass(frozen=True, slots=True)
class AccountSpec:
    """An account. users: passwords by name. jetstream: limits in nats-server's words; None: off. permissions:
    by user; none for the others."""

    name: str
    system: bool
    users: Mapping[str, str] = field(repr=False)
    jetstream: Json | None
    exports: list[Json]
    imports: list[Json]
    mappings: Json
    permissions: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ContextSpec:
    """A context to write. cluster: empty for all servers."""

    name: str
    cluster: str
    user: str
    description: str


@dataclass(frozen=True, slots=True)
class NetworkSpec:
    """A network. operator: its name; empty when the accounts stand in the configurations. tls: paths of
    `cert`, `key` and `ca`."""

    name: str
    operator: str
    accounts: tuple[AccountSpec, ...]
    no_login: str
    clusters: tuple[ClusterSpec, ...]
    gateways: tuple[str, ...]
    links: tuple[str, ...]
    tls: Mapping[str, str]
    contexts: tuple[ContextSpec, ...]

    def get_account(self, user: str) -> AccountSpec:
        """Return the account of a user. Raises StopIteration for an unknown name: callers have checked it."""
        return next(account for account in self.accounts if user in account.users)

    def get_cluster(self, name: str) -> ClusterSpec:
        """Return the cluster of this name. Raises StopIteration for an unknown name: callers have checked
        it."""
        return next(cluster for cluster in self.clusters if cluster.name == name)
