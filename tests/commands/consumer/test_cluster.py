"""`consumer cluster`, and what a cluster means to other verbs: leaders, and servers that die."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import js
from tests.support.consumer_leaders import leader
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_for, wait_until

pytestmark = pytest.mark.cluster


@pytest.fixture
def replicated(cluster_cli: Cli, shared_cluster: Cluster) -> Cli:
    js.stream(shared_cluster.url, "R", "r.>", num_replicas=3)
    return cluster_cli


def test_step_down(replicated: Cli) -> None:
    replicated("consumer add R C --pull", status=0)
    before = leader(replicated, "C")
    done = replicated("consumer cluster step-down R C", tty=True, status=0)
    after = leader(replicated, "C")
    assert after and after != before
    assert f"Requesting leader step down of {before} for consumer R > C, 3 peers" in done.err
    assert f"New leader elected: {after}" in done.err
    assert "Cluster Information:" in done.out
    assert f"Leader: {after}" in done.out
    assert "Raft Group: C-R3" in done.out
    replicated(f"con c elect R C --preferred {before}", status=0)
    assert leader(replicated, "C") == before
    assert (
        "n9 cannot lead: it is not a follower; the followers are: "
        in replicated("con c d R C --preferred n9", status=64).err
    )
    assert "consumer R > NO not found" in replicated("con c down R NO", status=3).err


def test_a_consumer_leaves_a_server(replicated: Cli) -> None:
    replicated("consumer add R C --pull --replicas 1 --defaults", status=0)
    first = leader(replicated, "C")
    assert "is not a peer" in replicated("consumer cluster evacuate R C none --force", status=3).err
    done = replicated(f"consumer cluster evacuate R C {first} --force --json", status=0).json
    assert done["peer"] == first

    def moved() -> bool:
        outcome = replicated("consumer info R C --json --timeout 2s")  # between two leaders nobody answers
        return outcome.status == 0 and (outcome.json.get("cluster") or {}).get("leader") not in (
            None,
            "",
            first,
        )

    wait_for(moved, "the consumer on another server")


def test_balance(replicated: Cli) -> None:
    for number in range(6):
        replicated(f"consumer add R C{number} --pull", status=0)
        if leader(replicated, f"C{number}") != "n1":
            replicated(f"con c step-down R C{number} --preferred n1", status=0)
    led = Counter(leader(replicated, f"C{number}") for number in range(6))
    over = sum(max(0, count - 2) for count in led.values())  # an election need not go as preferred
    assert over
    planned = replicated("consumer cluster balance R --dry-run --json", status=0).json
    assert planned["balanced"] == 0
    assert len(planned["moves"]) == over
    done = replicated("consumer cluster balance R", status=0)
    assert f"Balanced {over} consumer" in done.out
    leaders = sorted(leader(replicated, f"C{number}") for number in range(6))
    assert leaders == ["n1", "n1", "n2", "n2", "n3", "n3"]
    assert "Balanced 0 consumers" in replicated("consumer cluster balance R", status=0).out
    assert "none of these consumers" in replicated("con c balance R --push", status=1).err


def test_report_shows_leaders(replicated: Cli) -> None:
    replicated("consumer add R C --pull", status=0)
    lead = leader(replicated, "C")
    shown = replicated("consumer report R --leaders", tty=True, status=0).out
    assert f"{lead}*" in shown
    assert "RAFT Leader Report" in shown
    assert replicated(f"consumer find R --leader {lead}", status=0).out == "C\n"
    assert replicated("consumer find R --replicas 2", status=0).out == ""


@pytest.fixture
def own_cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster that a test may break."""
    three = Cluster(tmp_path / "own")
    try:
        yield three.start()
    finally:
        three.stop()


def test_servers_that_die(own_cluster: Cluster, tmp_path: Path) -> None:
    """A consumer of one replica whose server is gone; then a stream of one replica."""
    cli = Cli(tmp_path / "cli", own_cluster.url)
    js.stream(own_cluster.url, "R", "r.>", num_replicas=3)
    js.publish(own_cluster.url, "r.a", count=3)
    cli("consumer add R ALL --pull", status=0)
    lost = "L"
    js.stream(own_cluster.url, lost, "l")
    victim = js.info(own_cluster.url, lost)["cluster"]["leader"]
    # One consumer of one replica has to be on the same server.
    places: dict[str, str] = {}
    while victim not in places.values():
        assert len(places) < 40
        name = f"ONE{len(places)}"
        cli(f"consumer add R {name} --pull --replicas 1", status=0)
        places[name] = leader(cli, name)
    deleted = name
    cli(f"consumer add {lost} C --pull", status=0)
    own_cluster.servers[victim].kill()
    cli.environ["NATS_URL"] = ",".join(
        server.url_for("acc") for name, server in own_cluster.servers.items() if name != victim
    )
    own_cluster.wait()

    def eventually(line: str, expected: Any) -> Any:
        return wait_until(lambda: cli(line), expected)

    done = eventually(
        f"consumer why R {deleted} --json --timeout 2s",
        lambda d: d.status == 0 and d.json["causes"][0]["kind"] == "consumer without leader",
    )
    assert done.json["verdict"] == "stopped"
    done = eventually(
        f"consumer why {lost} C --json --timeout 2s",
        lambda d: d.status == 0 and d.json["causes"][0]["kind"] == "stream without leader",
    )
    assert done.json["causes"][0]["help"] == "jsctl doctor"
    # The others go on, and those that are gone are named.
    eventually("consumer why R ALL", lambda d: d.status == 0 and "has no leader" not in d.out)
    shown = eventually("consumer report R --json", lambda d: d.status == 0 and d.json["missing"]).json
    assert shown["missing"]["R"] == [deleted]
    assert "ALL" in {row["consumer"] for row in shown["consumers"]}
    out = cli("consumer report R", status=0).out
    assert "Inaccessible Consumers" in out
    assert "Inaccessible Consumers" in cli("consumer ls R", status=0).out
    everything = cli("consumer report", status=0).out
    assert "Inaccessible Streams" in everything
    assert lost in everything
