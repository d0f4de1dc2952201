"""`stream cluster balance`."""

from collections import Counter
from typing import Any

import pytest

from jsctl.jetstream.cluster.balance import plan_moves
from tests.support import js
from tests.support.leaders import lead, leader
from tests.support.run import Cli
from tests.support.servers import Cluster

pytestmark = pytest.mark.cluster


def test_balance(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    url = shared_cluster.url
    names = [f"B{number}" for number in range(6)]
    for name in names:
        js.stream(url, name, name, num_replicas=3)
    for name in names:
        lead(url, name, "n1")
    dry = cluster_cli("stream cluster balance --dry-run --json", status=0).json
    assert (dry["balanced"], len(dry["moves"]), dry["dry_run"]) == (0, 4, True)
    assert Counter(leader(url, name) for name in names) == {"n1": 6}
    outcome = cluster_cli("stream cluster balance", status=0)
    assert outcome.out.splitlines()[-1] == "Balanced 4 streams"
    assert Counter(leader(url, name) for name in names) == {"n1": 2, "n2": 2, "n3": 2}
    assert cluster_cli("stream cluster balance", status=0).out == "Balanced 0 streams\n"


def test_balance_takes_the_flags_of_find(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    url = shared_cluster.url
    for name in ("IN_1", "IN_2", "OUT_1", "OUT_2"):
        js.stream(url, name, name, num_replicas=3)
        lead(url, name, "n2")
    js.stream(url, "ONE", "one")
    expression = "config.name startsWith 'IN_'"
    moved = cluster_cli(["stream", "cluster", "balance", "--expression", expression, "--json"], status=0).json
    assert [move["stream"] for move in moved["moves"]] == ["IN_1"]
    assert {leader(url, name) for name in ("IN_2", "OUT_1", "OUT_2")} == {"n2"}
    assert "has replicas" in cluster_cli("stream cluster balance --replicas 1", status=1).err


def test_balance_without_a_cluster(cli: Cli, url: str) -> None:
    assert cli("stream cluster balance", status=0).out == "Balanced 0 streams\n"
    js.stream(url, "S", "s")
    assert "none of these streams has replicas" in cli("stream cluster balance", status=1).err


# -- the plan, without servers ----------------------------------------------------------------------


def group(name: str, leads: str, *followers: str, cluster: str = "c", **marks: Any) -> dict[str, Any]:
    replicas = [{"name": peer, "current": True, **marks} for peer in followers]
    return {
        "config": {"name": name},
        "cluster": {"name": cluster, "leader": leads, "replicas": replicas},
    }


def test_what_has_one_replica_counts_and_stays() -> None:
    result = plan_moves([group("ONE", "a"), group("TWO", "a", "b", "c")])
    assert [(move.name, move.leader, move.preferred) for move in result] == [("TWO", "a", "b")]


def test_only_current_followers_take_over() -> None:
    assert plan_moves([group(name, "a", "b", current=False) for name in "xyz"]) == []
    assert plan_moves([group(name, "a", "b", offline=True) for name in "xyz"]) == []


def test_clusters_are_balanced_for_themselves() -> None:
    result = plan_moves(
        [group(n, "a", "b", cluster="one") for n in "wx"] + [group(n, "c", "d", cluster="two") for n in "yz"]
    )
    assert [(move.cluster, move.preferred) for move in result] == [("one", "b"), ("two", "d")]
