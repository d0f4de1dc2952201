"""`stream cluster step-down`."""

import pytest

from tests.support import js
from tests.support.leaders import leader
from tests.support.run import Cli
from tests.support.servers import Cluster

pytestmark = pytest.mark.cluster


def test_step_down(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    url = shared_cluster.url
    js.stream(url, "S", "s", num_replicas=3)
    before = leader(url, "S")
    outcome = cluster_cli("stream cluster step-down S", tty=True, status=0)
    result = outcome.err.splitlines()
    assert result[0] == f"Requesting leader step down of {before} for stream S, 3 peers"
    after = result[1].removeprefix("New leader elected: ")
    assert after != before
    assert after in shared_cluster.servers
    assert f"Leader: {after}" in outcome.out
    other = next(name for name in shared_cluster.servers if name not in (before, leader(url, "S")))
    document = cluster_cli(f"s c elect S --preferred {other} --json", status=0).json
    assert document["cluster"]["leader"] == other


def test_step_down_refusals(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    url = shared_cluster.url
    js.stream(url, "S", "s", num_replicas=3)
    js.stream(url, "ONE", "one")
    leads = leader(url, "S")
    assert (
        f"{leads} is already the leader"
        in cluster_cli(f"stream cluster sd S --preferred {leads}", status=1).err
    )
    wrong = cluster_cli("stream cluster step-down S --preferred n9", status=64).err
    assert "n9 cannot lead: it is not a follower; the followers are: n" in wrong
    assert "stream ONE has only one replica" in cluster_cli("stream cluster step-down ONE", status=1).err
    assert "stream NOPE not found" in cluster_cli("stream cluster step-down NOPE", status=3).err
