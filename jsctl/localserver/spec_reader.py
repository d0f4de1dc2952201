"""Reader of a network's description; see `spec` for its form."""

import os
from collections.abc import Callable, Collection, Mapping
from functools import partial
from importlib.resources import files
from pathlib import Path

from jsctl.base.command_lines import build_line
from jsctl.base.files import CONFIG_SIZE, read_text
from jsctl.base.similar_names import find_nearest
from jsctl.base.user_folders import expand_home
from jsctl.errors import NotFound
from jsctl.jetstream.config.documents import parse_document
from jsctl.jetstream.config.nodes import Node
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
from jsctl.localserver.spec_nodes import (
    check_name,
    find_hint,
    read_choice,
    read_export,
    read_flag,
    read_import,
    read_items,
    read_keys,
    read_limits,
    read_name,
    read_object,
)
from jsctl.localserver.topology import CLIENT

BUILTIN = ("single", "cluster", "hub-leaf", "hub-spokes", "supercluster")
"""The networks that come with jsctl."""


_LINKS = (LEAF, GATEWAY, CLIENT_LINK)
_MAX_SERVERS = 50


def load_spec(name: str) -> NetworkSpec:
    """Return a network that comes with jsctl, by its name, or the one that a file describes.

    Raises BadInput with file and line; NotFound for what is neither.
    """
    if name in BUILTIN:
        return parse_spec(read_description(name), f"{name}.yaml")
    path = expand_home(name)
    if not path.exists():
        nearest = find_nearest(name, BUILTIN)
        hint = f"did you mean {nearest}? " if nearest else ""
        raise NotFound(
            f"there is no network and no file {name!r}",
            f"{hint}name a YAML file, or one of {', '.join(BUILTIN)}",
        )
    return parse_spec(read_text(path, limit=CONFIG_SIZE), str(path), path.absolute().parent)


def read_description(name: str) -> str:
    """Return the YAML of a network that comes with jsctl. Raises NotFound."""
    if name not in BUILTIN:
        raise NotFound(f"no network {name!r} comes with jsctl", f"use {', '.join(BUILTIN)}")
    return (files("jsctl.localserver") / "topologies" / f"{name}.yaml").read_text(encoding="utf-8")


def parse_spec(text: str, file: str, folder: Path | None = None) -> NetworkSpec:
    """Read a network. folder: what paths in it are relative to. Raises BadInput with file and line."""
    return _Reader(parse_document(text, file), folder or Path.cwd()).read()


class _Reader:
    """A reader of one document. Every error names file and line."""

    def __init__(self, root: Node, folder: Path) -> None:
        self._root = root
        self._folder = folder
        self._servers: dict[str, Node] = {}
        self._users: dict[str, Node] = {}
        self._account_of: dict[str, str] = {}  #: by user
        self._ports: set[int] = set()
        self._joined: dict[
            str, dict[str, set[str]]
        ] = {}  #: by account: cluster -> those it is a leaf node of

    def read(self) -> NetworkSpec:
        known_keys = (
            "name",
            "operator",
            "accounts",
            "no_login",
            "clusters",
            "gateways",
            "links",
            "tls",
            "contexts",
        )
        keys = read_keys(self._root, "a network", known_keys)
        if "name" not in keys:
            raise self._root.error("the network has no name", "begin with name: NAME")
        name = read_name(keys["name"], "the network")
        accounts = self._read_accounts(keys.get("accounts"))
        clusters = self._read_clusters(keys.get("clusters"))
        names = [cluster.name for cluster in clusters]
        gateways = tuple(
            read_choice(node, names, "cluster") for node in read_items(keys.get("gateways"), "gateways")
        )
        links = tuple(
            read_choice(node, _LINKS, "kind of link") for node in read_items(keys.get("links"), "links")
        )
        no_login = read_choice(keys["no_login"], self._users, "user") if "no_login" in keys else ""
        operator = read_name(keys["operator"], "operator") if "operator" in keys else ""
        if operator and no_login:
            raise keys["no_login"].error("no_login cannot be used with an operator: every user needs a login")
        if operator and not any(account.system for account in accounts):
            raise keys["operator"].error("an operator needs an account with system: true")
        return NetworkSpec(
            name=name,
            operator=operator,
            accounts=accounts,
            no_login=no_login,
            clusters=clusters,
            gateways=gateways,
            links=links if "links" in keys else (LEAF, GATEWAY),
            tls=self._read_tls(keys.get("tls")),
            contexts=self._read_contexts(keys.get("contexts"), accounts, names),
        )

    def _read_accounts(self, node: Node | None) -> tuple[AccountSpec, ...]:
        if node is None:
            raise self._root.error(
                "the network has no accounts", f"see {build_line('server network topology', 'hub-leaf')}"
            )
        account_nodes = node.as_object("accounts")
        accounts = tuple(
            self._read_account(name, account, account_nodes) for name, account in account_nodes.items()
        )
        system = [account.name for account in accounts if account.system]
        if len(system) > 1:
            raise node.error(f"{' and '.join(system)} are both system accounts", "a server can have only one")
        return accounts

    def _read_account(self, name: str, node: Node, account_names: Collection[str]) -> AccountSpec:
        keys = read_keys(
            node,
            "an account",
            ("system", "users", "jetstream", "exports", "imports", "mappings", "permissions"),
        )
        system = read_flag(keys.get("system"), "system")
        jetstream = _read_options(keys.get("jetstream"), read_limits, default=False)
        if system and jetstream is not None:
            raise keys["jetstream"].error("the system account cannot have JetStream", "use another account")
        users = self._read_users(keys.get("users"), name)
        if not users:
            raise node.error(f"account {name} has no users", "add users: {NAME: PASSWORD}")
        exports, imports = (read_items(keys.get(key), key) for key in ("exports", "imports"))
        return AccountSpec(
            name,
            system,
            users,
            jetstream,
            [read_export(export) for export in exports],
            [read_import(imported, account_names) for imported in imports],
            dict(read_object(keys["mappings"], "mappings")) if "mappings" in keys else {},
            self._read_permissions(keys.get("permissions"), users),
        )

    def _read_permissions(self, node: Node | None, users: Collection[str]) -> dict[str, Json]:
        if node is None:
            return {}
        if self._root.as_object("a network").get("operator"):
            raise node.error(
                "permissions need accounts in the configuration", "leave out operator, or use jsctl auth"
            )
        for name in (permissions := node.as_object("permissions")):
            if name not in users:
                raise permissions[name].error(f"there is no user {name!r}", find_hint(name, users))
        return {name: read_object(each, f"permissions of {name}") for name, each in permissions.items()}

    def _read_users(self, node: Node | None, account: str) -> dict[str, str]:
        """Return the users by name; in a list, the name is also the password."""
        if node is None or node.value is None:
            return {}
        if isinstance(node.value, list):
            users = {read_name(user, "a user"): (user, user.as_text("a user")) for user in node.value}
        else:
            users = {
                name: (password, password.as_text(f"the password of {name}"))
                for name, password in node.as_object("users").items()
            }
        for name, (user_node, _) in users.items():
            if name in self._users:
                raise user_node.error(
                    f"there are two users {name!r}", "users of all accounts need different names"
                )
            self._users[name] = user_node
            self._account_of[name] = account
        return {name: password for name, (_, password) in users.items()}

    def _read_clusters(self, node: Node | None) -> tuple[ClusterSpec, ...]:
        if node is None or not node.as_object("clusters"):
            raise self._root.error("the network has no clusters", "add clusters: {NAME: {servers: 3}}")
        names = list(node.value)
        return tuple(
            self._read_cluster(name, cluster, names) for name, cluster in node.as_object("clusters").items()
        )

    def _read_cluster(self, name: str, node: Node, names: Collection[str]) -> ClusterSpec:
        check_name(node, name, "cluster")
        known_keys = ("cluster_name", "domain", "servers", "remotes", "jetstream", "monitoring", "binary")
        keys = read_keys(node, "a cluster", known_keys)
        monitoring = read_flag(keys.get("monitoring"), "monitoring")
        binary = self._read_binary(keys["binary"]) if "binary" in keys else ""
        remotes = [
            self._read_remote(remote, names, name) for remote in read_items(keys.get("remotes"), "remotes")
        ]
        return ClusterSpec(
            name,
            read_name(keys["cluster_name"], "cluster_name") if "cluster_name" in keys else name,
            read_name(keys["domain"], "domain") if "domain" in keys else "",
            self._read_servers(name, keys.get("servers"), node, binary),
            tuple(remotes),
            _read_options(keys.get("jetstream"), partial(read_object, noun="jetstream"), default=True),
            monitoring,
        )

    def _read_servers(
        self, cluster: str, node: Node | None, parent: Node, binary: str
    ) -> tuple[ServerSpec, ...]:
        if node is None:
            raise parent.error(f"cluster {cluster} has no servers", "add servers: 3, or a list of names")
        if isinstance(node.value, list):
            servers = tuple(self._read_server(server, binary) for server in node.value)
        else:
            count = node.value
            if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= _MAX_SERVERS:
                raise node.error(f"servers must be a number from 1 to {_MAX_SERVERS}, or a list of names")
            names = [cluster] if count == 1 else [f"{cluster}-{number}" for number in range(1, count + 1)]
            servers = tuple(ServerSpec(name, name, f"store-{name}", {}, binary) for name in names)
        if not servers:
            raise node.error(f"cluster {cluster} has no servers", "add servers: 3, or a list of names")
        for server in servers:
            if server.name in self._servers:
                raise node.error(f"there are two servers {server.name!r}")
            self._servers[server.name] = node
        return servers

    def _read_server(self, node: Node, binary: str) -> ServerSpec:
        if not isinstance(node.value, dict):
            name = read_name(node, "a server")
            return ServerSpec(name, name, f"store-{name}", {}, binary)
        others = ("cluster", "leafnodes", GATEWAY, "monitoring", "mqtt", "websocket")
        purposes = {"port": CLIENT} | {name: name for name in others}
        keys = read_keys(node, "a server", ("name", "server_name", "store", "binary", *purposes))
        if "name" not in keys:
            raise node.error("this server has no name")
        name = read_name(keys["name"], "a server")
        return ServerSpec(
            name,
            read_name(keys["server_name"], "server_name") if "server_name" in keys else name,
            keys["store"].as_text("store") if "store" in keys else f"store-{name}",
            {purpose: self._read_port(keys[key]) for key, purpose in purposes.items() if key in keys},
            self._read_binary(keys["binary"]) if "binary" in keys else binary,
        )

    def _read_port(self, node: Node) -> int:
        port = node.value
        if not isinstance(port, int) or isinstance(port, bool) or not 0 <= port <= 65535:
            raise node.error(
                f"{node.text or 'this'} is not a port", "use a number from 1 to 65535, or 0 for a free one"
            )
        if port in self._ports:
            raise node.error(f"port {port} is used twice", "use another one, or 0 for a free one")
        if port:
            self._ports.add(port)
        return port

    def _read_remote(self, node: Node, names: Collection[str], cluster: str) -> Remote:
        keys = read_keys(node, "a remote", ("to", "user"))
        for key in ("to", "user"):
            if key not in keys:
                raise node.error(f"this remote has no {key}", "write {to: CLUSTER, user: USER}")
        remote = Remote(
            read_choice(keys["to"], names, "cluster"), read_choice(keys["user"], self._users, "user")
        )
        if remote.to == cluster:
            raise node.error(f"cluster {cluster} cannot be a leaf node of itself")
        account = self._account_of[remote.user]
        joined = self._joined.setdefault(account, {})
        if _is_connected(joined, remote.to, cluster):
            raise node.error(
                f"{remote.to} is already a leaf node of {cluster}: messages of account {account} would"
                " circulate forever",
                "leave this remote out",
            )
        joined.setdefault(cluster, set()).add(remote.to)
        return remote

    def _read_tls(self, node: Node | None) -> dict[str, str]:
        if node is None:
            return {}
        keys = read_keys(node, "tls", ("cert", "key", "ca"))
        for key in ("cert", "key", "ca"):
            if key not in keys:
                raise node.error(f"tls has no {key}", "write {cert: FILE, key: FILE, ca: FILE}")
        return {key: self._read_path(file) for key, file in keys.items()}

    def _read_binary(self, node: Node) -> str:
        path = self._read_path(node)
        if not os.access(path, os.X_OK):
            raise node.error(f"{node.text} cannot be run", "name an executable nats-server")
        return path

    def _read_path(self, node: Node) -> str:
        """Return the absolute path of a file that must exist."""
        path = self._folder / expand_home(node.as_text("the path"))
        if not path.is_file():
            raise node.error(f"there is no file {node.text}")
        return str(path)

    def _read_contexts(
        self, node: Node | None, accounts: Collection[AccountSpec], clusters: Collection[str]
    ) -> tuple[ContextSpec, ...]:
        if node is None:
            return tuple(_build_default_contexts(accounts, clusters))
        return tuple(
            self._read_context(name, context, clusters)
            for name, context in node.as_object("contexts").items()
        )

    def _read_context(self, name: str, node: Node, clusters: Collection[str]) -> ContextSpec:
        check_name(node, name, "context")
        keys = read_keys(node, "a context", ("cluster", "user", "description"))
        if "user" not in keys:
            raise node.error(f"context {name} has no user", "write {cluster: CLUSTER, user: USER}")
        return ContextSpec(
            name,
            read_choice(keys["cluster"], clusters, "cluster") if "cluster" in keys else "",
            read_choice(keys["user"], self._users, "user"),
            keys["description"].as_text("description") if "description" in keys else "",
        )


def _build_default_contexts(
    accounts: Collection[AccountSpec], clusters: Collection[str]
) -> list[ContextSpec]:
    """Return a context for each cluster and account, `CLUSTER` or `CLUSTER-ACCOUNT`, and `system` for all
    servers."""
    apps = [account for account in accounts if not account.system]
    specs = [
        ContextSpec(
            cluster if len(apps) == 1 else f"{cluster}-{account.name}",
            cluster,
            next(iter(account.users)),
            f"Account {account.name} at {cluster}",
        )
        for cluster in clusters
        for account in apps
    ]
    system = [next(iter(account.users)) for account in accounts if account.system]
    return [*specs, *(ContextSpec("system", "", user, "All servers, system account") for user in system)]


def _read_options(node: Node | None, read: Callable[[Node], Json], *, default: bool) -> Json | None:
    """Return JetStream's options; None for off."""
    if node is None or isinstance(node.value, bool):
        on = default if node is None else node.value
        return {} if on else None
    return read(node)


def _is_connected(joined: Mapping[str, Collection[str]], start: str, end: str) -> bool:
    """Return whether leaf node connections lead from one cluster to another.

    There must be no cycle among them yet.
    """
    return end in joined.get(start, ()) or any(
        _is_connected(joined, following, end) for following in joined.get(start, ())
    )
