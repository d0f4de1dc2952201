"""`server report downgrade`."""

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_for

pytestmark = pytest.mark.cluster


def test_downgrade(cluster_system: Cli, shared_cluster: Cluster) -> None:
    url = shared_cluster.url
    js.stream(url, "TTL", "ttl.>", allow_msg_ttl=True, num_replicas=3)
    js.ask(
        url,
        "CONSUMER.CREATE.TTL.C",
        {"stream_name": "TTL", "config": {"name": "C", "durable_name": "C", "ack_policy": "explicit"}},
    )
    needed = {"streams": [{"account": "ACC", "name": "TTL", "api_level": 1}], "consumers": []}
    line = "server report downgrade 0"
    wait_for(lambda: cluster_system(f"{line} --json", status=0).json == needed, "the stream's level")
    consumers = cluster_system(f"{line} --all --json", status=0).json["consumers"]
    assert consumers == [{"account": "ACC", "name": "C", "stream": "TTL", "api_level": 0}]
    assert "TTL*" in cluster_system(f"{line} --all", tty=True, status=0).out
    assert "work with API level 1" in cluster_system("server report downgrade 1", status=0).out
