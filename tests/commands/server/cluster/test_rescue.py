"""Servers are emptied, and most of them are lost: `server cluster evacuate` and `rescue`."""

import re
from pathlib import Path
from typing import Any

import pytest

from jsctl.monitor.server.rescue import RescuePlan, plan_rescue
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.tables import read_table
from tests.support.waiting import wait_for

pytestmark = pytest.mark.cluster


def test_a_cluster_with_a_leader(cluster_system: Cli) -> None:
    assert "has a leader" in cluster_system("server cluster rescue", status=1).err


def test_without_a_cluster(cli: Cli, system_url: str) -> None:
    assert "not clustered" in cli(f"server cluster rescue --server {system_url}", status=1).err


@pytest.mark.parametrize(
    ("metas", "expected"),
    [
        ([], RescuePlan([], 0, 1, "")),
        ([{"cluster_size": 5, "quorum_needed": 3, "leader": ""}], RescuePlan(["n0"], 5, 3, "")),
        ([{"cluster_size": 3}, {"cluster_size": 3, "leader": "n1"}], RescuePlan(["n0", "n1"], 3, 2, "n1")),
    ],
)
def test_the_plan(metas: list[dict[str, Any]], expected: RescuePlan) -> None:
    replies = [
        {"server": {"name": f"n{at}"}, "data": {"meta_cluster": meta}} for at, meta in enumerate(metas)
    ]
    assert plan_rescue(replies, "") == expected
    assert plan_rescue(replies, "other").servers == []


def test_evacuate_and_rescue(cluster: Cluster, tmp_path: Path) -> None:
    cli, system = Cli(tmp_path / "acc", cluster.url), Cli(tmp_path / "system", cluster.system_url)
    js.stream(cluster.url, "S", "s")
    js.publish(cluster.url, "s", count=5)
    wait_for(lambda: js.info(cluster.url, "S")["state"]["messages"] == 5, "five messages")

    def leader() -> str:
        outcome = cli("stream info S --json --timeout 2s")
        cluster_info = outcome.json["cluster"] if outcome.status == 0 else {}
        return "" if cluster_info.get("replicas") else str(cluster_info.get("leader") or "")

    first = leader()
    assert cli(f"stream cluster evacuate S {first} --json", answers=[True], status=0).json["peer"] == first
    wait_for(lambda: leader() not in ("", first), "the stream on another server")
    second = leader()
    system(f"server cluster evacuate {second} --force", status=0)
    wait_for(lambda: leader() not in ("", second), "the stream on a third server")
    assert js.info(cluster.url, "S")["state"]["messages"] == 5

    for name in ("n2", "n3"):
        cluster.servers[name].kill()
    alone = Cli(tmp_path / "alone", cluster.servers["n1"].url_for("admin"))

    def rescued() -> bool:
        # Until it misses the others the server takes one of them for the leader.
        outcome = alone("server cluster rescue --force --json --timeout 2s")
        return outcome.status == 0 and outcome.json[0]["new_quorum"] == 1

    wait_for(rescued, "a lower quorum", 40)
    [row] = read_table(alone("server report jetstream", status=0).out)[:1]
    assert (row["Quorum Sz"], row["Rescuing"]) == ("1", "true")
    assert "(META_RESCUE)" in alone("doctor").out
    assert "rescue: meta group acts with 1 of 3 servers" in alone("report --part servers").out
    metrics = alone("exporter --textfile - --count 1", status=0).out
    assert re.search(r"^jsctl_server_meta_rescue{.*} 1$", metrics, re.MULTILINE)
    assert 'code="META_RESCUE"' in metrics
