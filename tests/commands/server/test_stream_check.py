"""`server stream-check` and `consumer-check` on a real cluster."""

from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_for

pytestmark = pytest.mark.cluster


def test_streams_and_consumers(cluster_system: Cli, shared_cluster: Cluster, tmp_path: Path) -> None:
    url = shared_cluster.url
    js.stream(url, "R3", "r3.>", num_replicas=3)
    js.stream(url, "R1", "r1.>")
    js.ask(
        url,
        "CONSUMER.CREATE.R3.C3",
        {"stream_name": "R3", "config": {"name": "C3", "durable_name": "C3", "ack_policy": "explicit"}},
    )
    js.publish(url, "r3.a", count=10)

    def stored() -> bool:
        rows = cluster_system("server stream-check --stream R3 --json", status=0).json
        return [row["state"]["messages"] for row in rows] == [10] * 3 and all(row["in_sync"] for row in rows)

    wait_for(stored, "three replicas with ten messages")
    rows = cluster_system("server stream-check --json", status=0).json
    assert [(row["stream"], row["server"]) for row in rows if row["stream"] == "R3"] == [
        ("R3", "n1"),
        ("R3", "n2"),
        ("R3", "n3"),
    ]
    assert len({row["raft_group"] for row in rows}) == 2
    assert cluster_system("server stream-check --unsynced --json", status=0).json == []
    out = cluster_system("server stream-check --health --stream R3", tty=True, width=200, status=0).out
    assert "3 replicas, 0 not in sync" in out and "IN SYNC" in out and out.count("ok") == 3
    assert out.count("*") == 1, "one leads"
    assert cluster_system("server stream-check --csv --stream R1", status=0).out.startswith(
        "stream,raft_group,account,account_id,server"
    )

    line = "server consumer-check --stream R3 --consumer C3"
    wait_for(
        lambda: len(cluster_system(f"{line} --json", status=0).json) == 3, "three replicas of the consumer"
    )
    rows = cluster_system(f"{line} --json --expected 3", status=0).json
    assert [(row["statuses"], row["num_waiting"]) for row in rows] == [(["EMPTY"], 0)] * 3

    assert all(row["stream_leader"] for row in rows)
    assert "Stream Leader" in cluster_system(line, status=0).out

    file = tmp_path / "audit.zip"
    cluster_system(f"audit gather --output {file} --no-server-profiles", status=0)
    for verb, count in (("stream-check", 3), ("consumer-check", 3)):
        archived = cluster_system(f"server {verb} --archive {file} --stream R3 --json", status=0).json
        assert [row["server"] for row in archived] == ["n1", "n2", "n3"][:count]
    together = cluster_system(f"server stream-check --archive {file} --health", status=64).err
    assert "cannot be used together" in together

    sent = cluster_system("server request jetstream --all --config", status=0).out
    again = cluster_system("server stream-check --stdin --stream R3 --json", stdin=sent, status=0).json
    assert len(again) == 3
    assert "standard input" in cluster_system("server stream-check --stdin", stdin="[]", status=64).err
    assert (
        "cannot be used together" in cluster_system("server stream-check --stdin --watch 1s", status=64).err
    )
