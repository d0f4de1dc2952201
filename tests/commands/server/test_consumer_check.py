"""`server consumer-check`."""

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_for

pytestmark = pytest.mark.cluster


def test_consumers(cluster_system: Cli, shared_cluster: Cluster) -> None:
    url = shared_cluster.url
    js.stream(url, "R3", "r3.>", num_replicas=3)
    config = {"name": "C", "durable_name": "C", "ack_policy": "explicit"}
    js.ask(url, "CONSUMER.CREATE.R3.C", {"stream_name": "R3", "config": config})
    line = "server consumer-check --stream R3"

    def servers() -> set[str]:
        return {row["server"] for row in cluster_system(f"{line} --json", status=0).json}

    wait_for(lambda: servers() == set(shared_cluster.servers), "three replicas of the consumer")
    shown = cluster_system(line, status=0).out
    assert "R3" in shown and all(name in shown for name in shared_cluster.servers)
    assert cluster_system("server consumer-check --stream NONE --json", status=0).json == []
    assert "standard input" in cluster_system("server consumer-check --stdin", stdin="[]", status=64).err
