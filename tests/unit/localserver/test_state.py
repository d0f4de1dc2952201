"""The servers that names choose in a network."""

import pytest

from jsctl.errors import BadInput
from jsctl.localserver.state import NetworkState, NodeState

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
