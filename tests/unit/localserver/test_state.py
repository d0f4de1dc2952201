"""The state of a network: its file, and the servers that names choose in it."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from jsctl.errors import BadInput, JsctlError
from jsctl.localserver.state import FILE, NetworkState, NodeState, load_state

NETWORK = NetworkState(
    "cluster",
    "cluster",
    "2.15.1",
    [
        NodeState(name, cluster, "", [], "")
        for name, cluster in [("n1", "cluster"), ("n2", "cluster"), ("leaf", "")]
    ],
)


@pytest.mark.parametrize(
    ("names", "servers"),
    [
        ((), ["n1", "n2", "leaf"]),
        (("n2", "n2"), ["n2"]),
        (("leaf", "cluster"), ["leaf", "n1", "n2"]),
    ],
)
def test_names_of_servers_and_clusters(names: tuple[str, ...], servers: list[str]) -> None:
    assert [node.name for node in NETWORK.select(names)] == servers


@pytest.mark.parametrize("names", [("cluster", "n1"), ("n1", "cluster")])
def test_a_server_beside_its_cluster_is_refused(names: tuple[str, ...]) -> None:
    """`server network kill cluster n1` may mean n1 of the network called cluster."""
    with pytest.raises(BadInput, match="n1 is in cluster cluster, which is named, too") as refused:
        NETWORK.select(names)
    assert "--network cluster chooses the network" in str(refused.value)


def test_a_damaged_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(json.dumps({**asdict(NETWORK), "links": {"hub": {"hops": {}}}}))
    with pytest.raises(JsctlError, match="was not written by jsctl"):
        load_state(tmp_path)
