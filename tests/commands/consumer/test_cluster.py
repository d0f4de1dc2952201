"""`consumer cluster`, and what a cluster means to other verbs: leaders, and servers that die."""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands.test_redrive import sources
from tests.support import js
from tests.support.consumer_leaders import leader
from tests.support.dead_letters import consumer, work_off
from tests.support.leaders import current
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.stored import stored
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


# -- dead letters ---------------------------------------------------------------------------------


def change_leaders(cli: Cli, url: str) -> None:
    """Another server leads the stream, and another one the consumer."""
    cli("stream cluster step-down W", status=0)
    cli("consumer cluster step-down W C", status=0)
    current(url, "W")


@pytest.mark.parametrize("retention", ["limits", "workqueue", "interest"])
def test_found_after_leader_changes_and_redriven(
    cluster_cli: Cli, shared_cluster: Cluster, tmp_path: Path, retention: str
) -> None:
    cli, url = cluster_cli, shared_cluster.url
    js.stream(url, "W", "w.*", num_replicas=3, retention=retention)
    js.stream(url, "R", "retry.x", num_replicas=3, duplicate_window=100_000_000)
    consumer(url, "W")
    cli("consumer dead W C --capture --force", status=0)
    assert js.info(url, "DEAD_LETTERS")["config"]["num_replicas"] == 3
    failing = sorted(random.Random(retention).sample(range(1, 1001), 40))
    js.publish_all(url, [(f"w.{number % 3}", str(number).encode()) for number in range(1, 501)])
    work_off(url, "W", failing=[one for one in failing if one <= 500])
    change_leaders(cli, url)
    js.publish_all(url, [(f"w.{number % 3}", str(number).encode()) for number in range(501, 1001)])
    work_off(url, "W", failing=failing)
    change_leaders(cli, url)

    def letters() -> list[int]:
        return [letter["sequence"] for letter in cli("consumer dead W C --json", status=0).json]

    found = wait_until(lambda: cli("consumer dead W C --json", status=0).json, lambda all: len(all) == 40)
    assert [one["sequence"] for one in found] == failing
    assert {(one["reason"], one["deliveries"]) for one in found} == {("max_deliver", 2)}
    causes = {
        cause["code"]: cause["says"] for cause in cli("consumer why W C --json", status=0).json["causes"]
    }
    assert causes["GIVEN_UP"].startswith("40 messages were given up")

    journal = tmp_path / "journal.jsonl"
    line = ["redrive", "W", "C", "--dead", "--subject", "retry.x", "--rate", "20", "--journal", str(journal)]
    environ = {**os.environ, "NATS_URL": url}
    process = subprocess.Popen([sys.executable, "-m", "jsctl", *line, "--force"], env=environ)
    wait_for(lambda: js.info(url, "R")["state"]["messages"] >= 10, "nothing is redriven")
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert 10 <= js.info(url, "R")["state"]["messages"] < 40
    cli("stream cluster step-down R", status=0)
    current(url, "R")
    change_leaders(cli, url)
    result = cli([*line, "--force", "--json"], status=0).json
    assert (result["total"], result["stored"], result["remaining"]) == (40, 40, 0)
    assert sources(url) == failing
    js.publish(url, "retry.x", b"other")
    cli("stream cluster step-down R", status=0)
    current(url, "R")
    undone = cli(["redrive", "--undo", str(journal), "--force", "--json"], status=0).json
    assert (undone["removed"], undone["gone"]) == (40, 0)
    assert [one.data for one in stored(url, "R")] == [b"other"]
    assert letters() == failing


@pytest.mark.parametrize("retention", ["limits", "workqueue", "interest"])
def test_without_advisories(cluster_cli: Cli, shared_cluster: Cluster, retention: str) -> None:
    """What is left of a stream that removes what was processed is exact; of others the number is known."""
    cli, url = cluster_cli, shared_cluster.url
    js.stream(url, "W", "w.*", num_replicas=3, retention=retention)
    consumer(url, "W")
    failing = sorted(random.Random(retention).sample(range(1, 501), 40))
    js.publish_all(url, [(f"w.{number % 3}", str(number).encode()) for number in range(1, 501)])
    work_off(url, "W", failing=failing, terminated=[] if retention == "limits" else [1, 2, 3])
    failing = [one for one in failing if one > 3 or retention == "limits"]
    for _ in range(2):
        change_leaders(cli, url)

        def shown() -> tuple[list[int], str]:
            outcome = cli("consumer dead W C --json", status=0)
            return [letter["sequence"] for letter in outcome.json], outcome.err

        if retention == "limits":
            found, warning = shown()
            assert found == [] and warning.startswith("warning: 40 more messages may have been given up")
        else:
            wait_until(shown, lambda each: each[0] == failing and "warning" not in each[1])
        why = cli("consumer why W C --json", status=0).json
        causes = {cause["code"]: cause["says"] for cause in why["causes"]}
        assert causes["GIVEN_UP"].startswith(f"{len(failing)} messages were given up")
        report = cli("consumer report W --json", status=0).json
        assert report["consumers"][0]["trouble"] == [f"{len(failing)} given up"]
        findings = cli("doctor --json", status=1).json["findings"]
        assert "GIVEN_UP" in {finding["code"] for finding in findings}


def test_advisories_of_all_are_as_safe_as_the_safest_stream(
    cluster_cli: Cli, shared_cluster: Cluster
) -> None:
    js.stream(shared_cluster.url, "ONE", "one.*")
    js.stream(shared_cluster.url, "W", "w.*", num_replicas=3)
    cluster_cli("consumer dead --capture --force", status=0)
    assert js.info(shared_cluster.url, "DEAD_LETTERS")["config"]["num_replicas"] == 3
