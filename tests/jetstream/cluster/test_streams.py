"""`stream cluster` on real clusters of three and four."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jsctl.jetstream.cluster.balance import plan_moves
from jsctl.jetstream.cluster.peers import peers
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_for, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.cluster]


def current(url: str, stream: str) -> dict[str, Any]:
    """The stream's info once it has a leader and all its followers are there."""

    def complete(info: dict[str, Any]) -> bool:
        group = info["cluster"]
        return bool(group.get("leader")) and all(peer.get("current") for peer in group.get("replicas") or [])

    return wait_until(lambda: js.info(url, stream), complete)


def leader(url: str, stream: str) -> str:
    return str(current(url, stream)["cluster"]["leader"])


def lead(url: str, stream: str, server: str) -> None:
    """Make this server lead."""

    def leads() -> bool:
        if leader(url, stream) == server:
            return True
        js.ask(url, f"STREAM.LEADER.STEPDOWN.{stream}", {"placement": {"preferred": server}})
        return False

    wait_for(leads, f"{server} does not lead", 30)


def test_step_down(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    url = shared_cluster.url
    js.stream(url, "S", "s", num_replicas=3)
    before = leader(url, "S")
    outcome = cluster_cli("stream cluster step-down S", status=0)
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
        f"{leads} is the leader already"
        in cluster_cli(f"stream cluster sd S --preferred {leads}", status=1).err
    )
    wrong = cluster_cli("stream cluster step-down S --preferred n9", status=64).err
    assert "n9 cannot lead: it has no replica; these have: n" in wrong
    assert "stream ONE has only one replica" in cluster_cli("stream cluster step-down ONE", status=1).err
    assert "stream NOPE not found" in cluster_cli("stream cluster step-down NOPE", status=3).err


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


def test_find_in_a_cluster(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    url = shared_cluster.url
    js.stream(url, "R3", "r3", num_replicas=3)
    js.stream(url, "R1", "r1")
    lead(url, "R3", "n3")
    alone = js.info(url, "R1")["cluster"]["leader"]
    others = "|".join(sorted(set(shared_cluster.servers) - {alone}))
    for flags, names in (
        ("--cluster '^eas'", ["R1", "R3"]),
        ("--cluster '^eas' --invert", []),
        ("--leader n3 --replicas 3 --expression 'config.name == \"R3\"'", ["R3"]),
        (f"--server-name '{others}'", ["R3"]),
        (f"--server-name '{alone}'", ["R1", "R3"]),
        ("--replicas 1", ["R1"]),
        ("--replicas 1 --invert", ["R3"]),
        ("--expression 'info.cluster.leader == \"n3\" and config.num_replicas > 1'", ["R3"]),
    ):
        assert cluster_cli(f"stream find -n {flags}", status=0).out.split() == names, flags


def test_peer_remove_refusals(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    url = shared_cluster.url
    js.stream(url, "S", "s", num_replicas=3)
    js.stream(url, "ONE", "one")
    leader(url, "S")
    assert "give PEER, one of n1, n2, n3" in cluster_cli("stream cluster peer-remove S", status=64).err
    assert "give --force" in cluster_cli("stream cluster peer-remove S n2", status=64).err
    assert "its peers are n1, n2, n3" in cluster_cli("stream cluster peer-remove S n9 -f", status=3).err
    full = cluster_cli("stream cluster pr S n2 --force", status=1).err
    assert "peer remap failed (10075); no other server can take the replica" in full
    assert "loses the data" in cluster_cli("stream cluster peer-remove ONE", status=1).err
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
    before = peers(current(four.url, "S"))
    deleted, new = before[1], next(name for name in four.servers if name not in before)
    line = f"stream cluster peer-remove S {deleted} --force --server {four.url}"
    outcome = offline_cli(line, status=0)
    assert outcome.out == f"Requested removal of peer {deleted} from Stream S\n"

    def moved() -> bool:
        now = peers(js.info(four.url, "S"))
        return new in now and deleted not in now

    wait_for(moved, f"{deleted} was not replaced by {new}", 30)
    assert current(four.url, "S")["state"]["messages"] == 10


def test_view_and_purge_on_replicas(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    url = shared_cluster.url
    js.stream(url, "S", "s.*", num_replicas=3, allow_direct=True)
    js.publish_all(url, ((f"s.{number % 2}", b"%d" % number) for number in range(1500)))
    for _ in range(3):
        assert len(cluster_cli("stream view S --json --subject s.1", status=0).json) == 750
        assert len(cluster_cli("stream view S --json", status=0).json) == 1500
    dry = cluster_cli("stream purge S --subject s.1 --seq 1001 --dry-run --json", status=0).json
    assert dry["streams"][0]["messages"] == 500
    cluster_cli("stream purge S --subject s.1 --seq 1001 --force", status=0)
    assert cluster_cli("stream gaps S --json", status=0).json == [[n, n] for n in range(2, 1001, 2)]


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
