"""From the description of a network to its servers: configurations, ports, links, contexts."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from jsctl.errors import JsctlError
from jsctl.localserver.identities import Identities, create_identities
from jsctl.localserver.server_config import format_config
from jsctl.localserver.spec import (
    CLIENT_LINK,
    GATEWAY,
    LEAF,
    AccountSpec,
    ClusterSpec,
    ContextSpec,
    Json,
    NetworkSpec,
    Remote,
    ServerSpec,
)
from jsctl.localserver.topology import CLIENT, Link, Login, Node, Topology

_ACCOUNTS_FILE = "accounts.conf"
_OPERATOR_FILE = "operator.conf"
_HOST = "127.0.0.1"


def compile_network(spec: NetworkSpec, folder: Path, *, keep_accounts: bool = False) -> Topology:
    """Return the servers of a network.

    folder: where an operator's keys are kept and created. keep_accounts: keep the stored accounts, which
    `jsctl auth` may have changed them. Raises BadInput, JsctlError.
    """
    try:
        identities = create_identities(spec, folder, keep=keep_accounts) if spec.operator else None
    except OSError as error:
        raise JsctlError(
            f"cannot write {error.filename}: {error.strerror}", "choose another folder"
        ) from None
    return _Compiler(spec, identities, folder).run()


class _Compiler:
    def __init__(self, spec: NetworkSpec, identities: Identities | None, folder: Path) -> None:
        self._spec = spec
        self._identities = identities
        self._folder = folder

    def run(self) -> Topology:
        spec = self._spec
        # Servers that others connect to start first.
        clusters = sorted(spec.clusters, key=lambda cluster: len(cluster.remotes))
        return Topology(
            spec.name,
            tuple(self._build_node(cluster, server) for cluster in clusters for server in cluster.servers),
            tuple(self._build_login(context) for context in spec.contexts),
            {_OPERATOR_FILE: self._format_operator()}
            if spec.operator
            else {_ACCOUNTS_FILE: self._format_accounts()},
            tuple(self._build_links()),
        )

    # -- servers ----------------------------------------------------------------------------------

    def _build_node(self, cluster: ClusterSpec, server: ServerSpec) -> Node:
        ports = {CLIENT: server.ports.get(CLIENT, 0)}
        for purpose, is_needed in (
            # JetStream behind gateways needs routes, even if only to the server itself.
            ("cluster", len(cluster.servers) > 1 or cluster.name in self._spec.gateways),
            ("leafnodes", self._is_hub(cluster)),
            (GATEWAY, cluster.name in self._spec.gateways),
            ("monitoring", cluster.monitoring),
            ("mqtt", False),
            ("websocket", False),
        ):
            if is_needed or purpose in server.ports:
                ports[purpose] = server.ports.get(purpose, 0)
        options = self._build_options(cluster, server, ports)
        include = _OPERATOR_FILE if self._spec.operator else _ACCOUNTS_FILE
        text = format_config(options, [f"./{include}"])
        return Node(server.name, ports, text, cluster.domain, None, cluster.name, server.binary)

    def _is_hub(self, cluster: ClusterSpec) -> bool:
        return any(
            remote.to == cluster.name
            for cluster_spec in self._spec.clusters
            for remote in cluster_spec.remotes
        )

    def _build_options(self, cluster: ClusterSpec, server: ServerSpec, ports: Mapping[str, int]) -> Json:
        def format_listen(purpose: str) -> str:
            return f"{_HOST}:@{server.name}.{purpose}@"

        options: Json = {"listen": format_listen(CLIENT), "server_name": server.server_name}
        if CLIENT_LINK in self._spec.links:
            options["client_advertise"] = f"{_HOST}:@link.client-{cluster.name}.{server.name}@"
        if cluster.jetstream is not None:
            store = server.store if server.store == "." else f"./{server.store}"
            options["jetstream"] = {"store_dir": store} | (
                {"domain": cluster.domain} if cluster.domain else {}
            )
            options["jetstream"].update(cluster.jetstream)
        if "cluster" in ports:
            routes = [f"nats-route://{_HOST}:@{other.name}.cluster@" for other in cluster.servers]
            options["cluster"] = {
                "name": cluster.cluster_name,
                "listen": format_listen("cluster"),
                "routes": routes,
            }
        if "leafnodes" in ports or cluster.remotes:
            leafnodes: Json = {"listen": format_listen("leafnodes")} if "leafnodes" in ports else {}
            leafnodes["no_advertise"] = True  # discovered addresses would lead past the relay
            if cluster.remotes:
                leafnodes["reconnect"] = "1s"
                leafnodes["remotes"] = [self._build_remote(cluster, remote) for remote in cluster.remotes]
            options["leafnodes"] = leafnodes
        if GATEWAY in ports:
            options["gateway"] = self._build_gateway(cluster, server, format_listen(GATEWAY))
        if "monitoring" in ports:
            options["http"] = format_listen("monitoring")
        if "mqtt" in ports:
            options["mqtt"] = {"listen": format_listen("mqtt")}
        if "websocket" in ports:
            options["websocket"] = {"listen": format_listen("websocket"), "no_tls": True}
        if self._spec.operator:
            # Each server keeps the JWTs that are pushed to it in a folder of its own.
            options["resolver"] = {
                "type": "full",
                "dir": f"./jwt-{server.name}",
                "allow_delete": True,
                "interval": "2m",
            }
        if tls := self._spec.tls:
            options["tls"] = {"cert_file": tls["cert"], "key_file": tls["key"], "ca_file": tls["ca"]}
        return options

    def _build_remote(self, cluster: ClusterSpec, remote: Remote) -> Json:
        account = self._spec.get_account(remote.user)
        hub = self._spec.get_cluster(remote.to)
        login = "" if self._identities else f"{remote.user}:{account.users[remote.user]}@"
        relayed = LEAF in self._spec.links
        ports = [
            f"@link.{cluster.name}-{hub.name}.{server.name}@" if relayed else f"@{server.name}.leafnodes@"
            for server in hub.servers
        ]
        options: Json = {"urls": [f"nats-leaf://{login}{_HOST}:{port}" for port in ports]}
        if self._identities:
            options["account"] = self._identities.keys[account.name]
            options["credentials"] = f"./{self._identities.creds[remote.user]}"
        else:
            options["account"] = account.name
        return options

    def _build_gateway(self, cluster: ClusterSpec, server: ServerSpec, listen: str) -> Json:
        relayed = GATEWAY in self._spec.links

        def format_port(other: ClusterSpec, server: ServerSpec) -> str:
            return f"@link.gateway-{other.name}.{server.name}@" if relayed else f"@{server.name}.{GATEWAY}@"

        others = [self._spec.get_cluster(name) for name in self._spec.gateways if name != cluster.name]
        options: Json = {"name": cluster.cluster_name, "listen": listen}
        if relayed:
            options["advertise"] = f"{_HOST}:{format_port(cluster, server)}"
        options["gateways"] = [
            {
                "name": other.cluster_name,
                "urls": [f"nats://{_HOST}:{format_port(other, server)}" for server in other.servers],
            }
            for other in others
        ]
        return options

    # -- accounts ---------------------------------------------------------------------------------

    def _format_accounts(self) -> str:
        options: Json = {
            "accounts": {account.name: _build_account_options(account) for account in self._spec.accounts}
        }
        for account in self._spec.accounts:
            if account.system:
                options["system_account"] = account.name
        if self._spec.no_login:
            options["no_auth_user"] = self._spec.no_login
        return format_config(options)

    def _format_operator(self) -> str:
        if self._identities is None:
            raise RuntimeError("a network without an operator has no operator.conf")
        system = next(account.name for account in self._spec.accounts if account.system)
        return format_config(
            {
                "operator": f"./{self._identities.operator_file}",
                "system_account": self._identities.keys[system],
                "resolver_preload": dict(self._identities.tokens),
            }
        )

    # -- contexts and links -----------------------------------------------------------------------

    def _build_login(self, context: ContextSpec) -> Login:
        account = self._spec.get_account(context.user)
        clusters = [c for c in self._spec.clusters if context.cluster in ("", c.name)]
        creds = str(self._folder / self._identities.creds[context.user]) if self._identities else ""
        anonymous = context.user == self._spec.no_login
        password = "" if creds or anonymous else account.users[context.user]
        relayed = CLIENT_LINK in self._spec.links and context.cluster
        reached = self._find_reached(clusters[0], account)
        domains = tuple(dict.fromkeys(c.domain for c in reached if c.jetstream is not None))
        return Login(
            context.name,
            tuple(server.name for cluster in clusters for server in cluster.servers),
            context.description,
            "" if creds or anonymous else context.user,
            password,
            creds,
            self._spec.tls.get("ca", ""),
            domains if account.jetstream is not None else (),
            sum(len(cluster.servers) for cluster in reached) if account.system else 0,
            f"link.client-{context.cluster}.{{node}}" if relayed else "{node}." + CLIENT,
            tuple(cluster.name for cluster in reached),
        )

    def _find_reached(self, start: ClusterSpec, account: AccountSpec) -> list[ClusterSpec]:
        """Return the clusters that a login on `start` reaches over leaf node connections and gateways."""
        reached, waiting = [start], [start]
        while waiting:
            cluster = waiting.pop()
            for other in self._spec.clusters:
                if other not in reached and self._is_joined(cluster, other, account):
                    reached.append(other)
                    waiting.append(other)
        return reached

    def _is_joined(self, cluster: ClusterSpec, other: ClusterSpec, account: AccountSpec) -> bool:
        gateways = self._spec.gateways
        if cluster.name in gateways and other.name in gateways:
            return True
        pairs = ((cluster, other), (other, cluster))
        return any(r.to == hub.name and r.user in account.users for leaf, hub in pairs for r in leaf.remotes)

    def _build_links(self) -> Iterator[Link]:
        spec = self._spec
        if LEAF in spec.links:
            for leaf in spec.clusters:
                for name in dict.fromkeys(remote.to for remote in leaf.remotes):
                    link = self._build_link(f"{leaf.name}-{name}", LEAF, spec.get_cluster(name), "leafnodes")
                    yield replace(link, ends=(leaf.name, name))
        if GATEWAY in spec.links:
            for name in spec.gateways:
                yield self._build_link(f"gateway-{name}", GATEWAY, spec.get_cluster(name), GATEWAY)
        if CLIENT_LINK in spec.links:
            for cluster in spec.clusters:
                yield self._build_link(f"client-{cluster.name}", CLIENT_LINK, cluster, CLIENT)

    def _build_link(self, name: str, kind: str, cluster: ClusterSpec, purpose: str) -> Link:
        hops = {f"link.{name}.{server.name}": f"{server.name}.{purpose}" for server in cluster.servers}
        return Link(name, kind, hops, (cluster.name,), cluster.cluster_name if kind == GATEWAY else "")


def _build_account_options(account: AccountSpec) -> Json:
    users = [
        {"user": name, "password": password}
        | ({"permissions": allowed} if (allowed := account.permissions.get(name)) else {})
        for name, password in account.users.items()
    ]
    options: Json = {"users": users}
    if account.jetstream is not None:
        options["jetstream"] = account.jetstream or "enabled"
    for key, value in (
        ("exports", account.exports),
        ("imports", account.imports),
        ("mappings", account.mappings),
    ):
        if value:
            options[key] = value
    return options
