"""`stream cluster peer-remove`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jsctl.jetstream.state import list_peers
from tests.support import js
from tests.support.leaders import current, leader
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_for

pytestmark = pytest.mark.cluster


def test_peer_remove_refusals(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    url = shared_cluster.url
    js.stream(url, "S", "s", num_replicas=3)
    js.stream(url, "ONE", "one")
    leader(url, "S")
    assert "specify PEER, one of n1, n2, n3" in cluster_cli("stream cluster peer-remove S", status=64).err
    assert "use --force" in cluster_cli("stream cluster peer-remove S n2", status=64).err
    assert "its peers are n1, n2, n3" in cluster_cli("stream cluster peer-remove S n9 -f", status=3).err
    full = cluster_cli("stream cluster pr S n2 --force", status=1).err
    assert "peer remap failed (10075); no other server can take the replica" in full
    assert "loses the data" in cluster_cli("stream cluster peer-remove ONE", status=1).err
    js.publish(url, "one", count=3)
    only = list_peers(current(url, "ONE"))[0]
    refused = cluster_cli(f"stream cluster peer-remove ONE {only} --force", status=64)
    assert "this deletes 3 messages" in refused.err and "--allow-data-loss permits it" in refused.err
    assert current(url, "ONE")["state"]["messages"] == 3
    no = cluster_cli("stream cluster peer-remove", tty=True, answers=["S", "n1", False], status=0)
    assert no.asked == ["Select a Stream", "Select a Peer", "Really remove peer n1 from Stream S"]


def test_peer_remove_without_a_cluster(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s")
    assert "is not in a cluster" in cli("stream cluster peer-remove S n1 --force", status=1).err


@pytest.fixture
def four(tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path / "four", size=4)
    try:
        yield cluster.start()
    finally:
        cluster.stop()


def test_a_removed_peer_is_replaced(four: Cluster, offline_cli: Cli) -> None:
    js.stream(four.url, "S", "s", num_replicas=3)
    js.publish(four.url, "s", b"x", count=10)
    before = list_peers(current(four.url, "S"))
    deleted, new = before[1], next(name for name in four.servers if name not in before)
    line = f"stream cluster peer-remove S {deleted} --force --server {four.url}"
    outcome = offline_cli(line, status=0)
    assert outcome.out == f"Requested removal of peer {deleted} from Stream S\n"

    def moved() -> bool:
        now = list_peers(js.info(four.url, "S"))
        return new in now and deleted not in now

    wait_for(moved, f"{deleted} was not replaced by {new}", 30)
    assert current(four.url, "S")["state"]["messages"] == 10
