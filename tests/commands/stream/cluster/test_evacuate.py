"""`stream cluster evacuate`; tests/commands/server/cluster/test_rescue.py evacuates a stream, too."""

import pytest

from tests.support import js
from tests.support.leaders import leader
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_for

pytestmark = pytest.mark.cluster


def test_a_stream_leaves_a_server(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    url = shared_cluster.url
    js.stream(url, "S", "s")
    first = leader(url, "S")
    assert "is not a peer" in cluster_cli("stream cluster evacuate S none --force", status=3).err
    declined = cluster_cli(f"stream cluster evacuate S {first}", answers=[False], status=0)
    assert declined.asked and leader(url, "S") == first
    assert cluster_cli(f"stream cluster evacuate S {first} --force --json", status=0).json["peer"] == first

    def moved() -> bool:
        outcome = cluster_cli("stream info S --json --timeout 2s")  # between two leaders nobody answers
        cluster = outcome.json["cluster"] if outcome.status == 0 else {}
        return not cluster.get("replicas") and cluster.get("leader") not in (None, "", first)

    wait_for(moved, "the stream on another server")


def test_without_a_cluster(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s")
    assert "not in a cluster" in cli("stream cluster evacuate S n1 --force", status=1).err
