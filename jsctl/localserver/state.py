"""The state of a network that was started: the file `network.json` in its folder."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jsctl.base.files import read_text, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.jetstream.shape_check import Fields, Shape, check

FILE = "network.json"
CONTEXTS = "contexts"  #: below the folder: what XDG_CONFIG_HOME is to be, so that its contexts are seen


LAME_DUCK = "lame duck"

_NODE: Fields = {**dict.fromkeys(("name", "cluster", "domain", "cwd", "url", "wanted"), str), "argv": [str]}
_LOGIN: Fields = {"context": str, "domains": [str], "servers": int, "clusters": [str]}
_LINK: Fields = {"kind": str, "hops": {"*": int}, "ends": [str], "gateway": str}
_SHAPE = Shape(
    {
        **dict.fromkeys(("name", "source", "version", "digest"), str),
        "nodes": [Shape(_NODE, _NODE.keys() - {"url", "wanted"})],
        "logins": [Shape(_LOGIN, _LOGIN.keys() - {"clusters"})],
        "links": {"*": Shape(_LINK, _LINK)},
        "temporary": bool,
        "ports": {"*": int},
        "scale": {"*": int},
    },
    ("name", "source", "version", "nodes", "logins", "links", "temporary", "ports", "scale"),
)


@dataclass(slots=True)
class NodeState:
    """A server. argv: its command line. wanted: "up", "stopped", "killed", "paused" or LAME_DUCK."""

    name: str
    cluster: str
    domain: str
    argv: list[str]
    cwd: str
    url: str = ""
    wanted: str = "up"


@dataclass(slots=True)
class LoginState:
    """What a context must reach: see `topology.Login`. context: its name as it was written."""

    context: str
    domains: list[str]
    servers: int
    clusters: list[str] = field(default_factory=list)


@dataclass(slots=True)
class NetworkState:
    """A network. source: the name or the absolute path of its description; empty for `--config`.

    links: by name, what the relay reads. version: of nats-server. temporary: its contexts, which stand beside
    the user's, are removed when it stops. ports: by `node.purpose`. scale: sizes of clusters that differ from
    the description. digest: of the description; empty if unknown.
    """

    name: str
    source: str
    version: str
    nodes: list[NodeState]
    logins: list[LoginState] = field(default_factory=list)
    links: dict[str, dict[str, Any]] = field(default_factory=dict)
    temporary: bool = False
    ports: dict[str, int] = field(default_factory=dict)
    scale: dict[str, int] = field(default_factory=dict)
    digest: str = ""

    def find_node(self, name: str) -> NodeState:
        """Return the state of a server. Raises NotFound."""
        for node in self.nodes:
            if node.name == name:
                return node
        server_names = ", ".join(node.name for node in self.nodes)
        raise NotFound(f"network {self.name} has no server {name!r}", f"its servers are {server_names}")

    def find_system_login(self) -> LoginState | None:
        """Return the login of the system account; None when the network has none."""
        return next((login for login in self.logins if login.servers), None)

    def select(self, names: tuple[str, ...]) -> list[NodeState]:
        """Return the servers with these names, which may be names of clusters; all for no names.

        Raises NotFound; BadInput for a server beside its cluster, as one of the two is not what was meant.
        """
        clusters = {node.cluster for node in self.nodes}
        selected: dict[str, NodeState] = {}
        for name in dict.fromkeys(names):
            members = [node for node in self.nodes if node.cluster == name] if name in clusters else []
            for node in members or [self.find_node(name)]:
                if node.name in selected:
                    raise BadInput(
                        f"{node.name} is in cluster {node.cluster}, which is named, too",
                        f"name one of the two; --network {self.name} chooses the network",
                    )
                selected[node.name] = node
        return list(selected.values()) if names else list(self.nodes)


def save_state(folder: Path, state: NetworkState) -> None:
    """Write the state of a network. Raises OSError."""
    document = {"format": 1, **_describe(state, _SHAPE.fields)}
    document["nodes"] = [_describe(node, _NODE) for node in state.nodes]
    document["logins"] = [_describe(login, _LOGIN) for login in state.logins]
    write_atomically(folder / FILE, json.dumps(document, indent=2) + "\n")


def _describe(part: object, fields: Fields) -> dict[str, Any]:
    """Return the declared fields of a state, or of a part of it."""
    return {name: getattr(part, name) for name in fields}


def load_state(folder: Path) -> NetworkState | None:
    """Read the state of the network in a folder; None when there is none. Raises JsctlError."""
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        document: Mapping[str, Any] = parse_json(read_text(path, regular=True))
        check(document, _SHAPE)
        values = {name: document[name] for name in _SHAPE.fields if name in document}
        values["nodes"] = [NodeState(**node) for node in document["nodes"]]
        values["logins"] = [LoginState(**login) for login in document["logins"]]
        return NetworkState(**values)
    except (ValueError, KeyError, TypeError):
        raise JsctlError(
            f"{path} was not written by jsctl", "remove it, and start the network again; its data stays"
        ) from None
