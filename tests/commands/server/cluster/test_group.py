"""`jsctl server cluster` and its commands."""

import contextlib
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from jsctl.monitor.server.rescue import RescuePlan, plan_rescue
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.tables import read_table
from tests.support.waiting import wait_for, wait_until


@pytest.mark.cluster
def test_balance(cluster_system: Cli, shared_cluster: Cluster) -> None:
    """Nine clients on one server: those above a third are closed."""
    line = "server cluster balance --account ACC --force --json"
    with contextlib.ExitStack() as stack:
        for _ in range(9):
            client = stack.enter_context(
                socket.create_connection(("127.0.0.1", shared_cluster.servers["n1"].port), timeout=10)
            )
            client.sendall(b'CONNECT {"user":"acc","pass":"acc","verbose":true}\r\n')
            while not client.recv(4096).endswith(b"+OK\r\n"):
                pass
        connected = "server report connections --account ACC --json"
        wait_for(lambda: len(cluster_system(connected, status=0).json) == 9, "nine clients and no other")
        assert cluster_system(f"{line} --server-name n2", status=0).json["balanced"] == 0, (
            "n2 has nothing too much"
        )
        outcome = cluster_system("server cluster balance --account ACC", answers=[False], status=0)
        assert outcome.asked == ["Really close 6 connections"]
        done = cluster_system(f"{line} 100ms", status=0).json
    assert done["balanced"] == 6
    assert [row["closed"] for row in done["servers"]] == [6, 0, 0]


@pytest.mark.cluster
def test_balance_asks(cluster_system: Cli) -> None:
    assert "--account" in cluster_system("server cluster balance --subject x", status=64).err
    assert (
        "no cluster has a server"
        in cluster_system("server cluster balance --server-name none", status=64).err
    )
    assert cluster_system("server cluster balance --account NOBODY", status=0).out.endswith("are balanced.\n")


@pytest.mark.cluster
def test_what_is_refused(cluster_system: Cli) -> None:
    assert (
        "the meta group has no server 'none'"
        in cluster_system("server cluster evacuate none --force", status=3).err
    )
    asked = cluster_system("server cluster evacuate n2", answers=[False], status=0).asked
    (question,) = asked
    assert question.startswith("Really move all streams and consumers of server n2 to others (")


@pytest.mark.cluster
def test_a_cluster_with_a_leader(cluster_system: Cli) -> None:
    healthy = cluster_system("server cluster rescue --json", status=0)
    assert healthy.json == [] and "no rescue is needed" in healthy.err
    assert "has a leader" in cluster_system("server cluster rescue --quorum 1", status=1).err


@pytest.mark.cluster
def test_without_a_cluster(cli: Cli, system_url: str) -> None:
    assert "not clustered" in cli(f"server cluster rescue --server {system_url}", status=1).err


@pytest.mark.parametrize(
    ("metas", "expected"),
    [
        ([], RescuePlan([], 0, 1, "")),
        ([{"cluster_size": 5, "quorum_needed": 3, "leader": ""}], RescuePlan(["n0"], 5, 3, "")),
        ([{"cluster_size": 3}, {"cluster_size": 3, "leader": "n1"}], RescuePlan(["n0", "n1"], 3, 2, "n1")),
        ([{"cluster_size": 3, "leader": "n2"}], RescuePlan(["n0"], 3, 2, "n2")),
        ([{"cluster_size": 3, "leader": "n1"}, {"leader": ""}], RescuePlan(["n0", "n1"], 3, 2, "")),
    ],
)
@pytest.mark.cluster
def test_the_plan(metas: list[dict[str, Any]], expected: RescuePlan) -> None:
    replies = [
        {"server": {"name": f"n{at}"}, "data": {"meta_cluster": meta}} for at, meta in enumerate(metas)
    ]
    assert plan_rescue(replies, "") == expected
    assert plan_rescue(replies, "other").servers == []


@pytest.mark.cluster
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

    wait_for(
        lambda: "meta group has no leader" in alone("report --part servers").out, "the loss of the leader", 40
    )
    assert "(META_NO_LEADER)" in alone("doctor").out
    for line in ("peer-remove n2", "evacuate n2"):
        refused = alone(f"server cluster {line} --force", status=1).err
        assert (
            "the meta group has no leader; start servers that are away; jsctl server cluster rescue"
            in refused
        )
    wait_for(rescued, "a lower quorum", 40)
    [row] = read_table(alone("server report jetstream", status=0).out)[:1]
    assert (row["Quorum Sz"], row["Rescuing"]) == ("1", "true")
    assert "(META_RESCUE)" in alone("doctor").out
    assert "rescue: meta group acts with 1 of 3 servers" in alone("report --part servers").out
    metrics = alone("exporter --textfile - --count 1", status=0).out
    assert re.search(r"^jsctl_server_meta_rescue{.*} 1$", metrics, re.MULTILINE)
    assert 'code="META_RESCUE"' in metrics


def meta_leader(system: Cli) -> str:
    """The leader that all servers know, or nothing."""
    replies = system("server request jetstream --leader --json").json
    return str(replies[0]["server"]["name"]) if len(replies) == 1 else ""


@pytest.mark.cluster
def test_step_down(cluster_system: Cli) -> None:
    wait_for(lambda: meta_leader(cluster_system), "the meta group has no leader")
    before = meta_leader(cluster_system)
    other = "n1" if before != "n1" else "n2"
    dry = cluster_system("server cluster step-down --dry-run", status=0).out
    assert before in dry and meta_leader(cluster_system) == before
    cluster_system(f"server cluster step-down --host {other} --json", status=0)
    wait_for(lambda: meta_leader(cluster_system) not in ("", before), "no other leads")
    assert "n9" in cluster_system("server cluster step-down --host n9", status=64).err


@pytest.mark.parametrize("line", ["server cluster step-down", "server cluster peer-remove hub-server"])
def test_a_single_server_has_no_meta_group(system: Cli, line: str) -> None:
    assert "are not clustered; there is no meta group" in system(line, status=1).err


@pytest.mark.cluster
def test_what_only_this_server_has_is_lost(cluster: Cluster, tmp_path: Path) -> None:
    system = Cli(tmp_path / "system", cluster.system_url)
    js.stream(cluster.url, "S", "s", metadata={"jsctl.protect": "true"})
    js.stream(cluster.url, "R3", "r", num_replicas=3)
    for subject in ("s", "r"):
        js.publish(cluster.url, subject, count=3)
    holder = js.info(cluster.url, "S")["cluster"]["leader"]
    line = f"server cluster peer-remove {holder} --force"
    while "is not a follower" in system(f"{line} --dry-run").err:
        system("server cluster step-down --force", status=0)
    dry_run = system(f"{line} --dry-run --unprotect S --allow-data-loss", status=0).out
    assert ", which deletes 3 messages (" in dry_run
    assert "stream S is protected" in system(line, status=1).err
    refused = system(f"{line} --unprotect S", status=64).err
    assert "this deletes 3 messages (" in refused and "of Stream S; --allow-data-loss permits it" in refused
    assert js.info(cluster.url, "S")["state"]["messages"] == 3
    cluster.servers[holder].stop()
    unknown = wait_until(lambda: system(line).err, lambda text: "unknown" in text)
    assert "this deletes an unknown number of messages of server " in unknown
