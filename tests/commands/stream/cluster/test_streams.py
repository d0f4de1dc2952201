"""What a cluster means to other verbs of `stream`."""

from pathlib import Path

import pytest

from tests.support import js
from tests.support.leaders import lead
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_for

pytestmark = pytest.mark.cluster


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


@pytest.mark.long
def test_a_stream_whose_server_is_away_is_removed(cluster: Cluster, tmp_path: Path) -> None:
    cli = Cli(tmp_path / "config", cluster.url)
    cli("stream add S --subjects s --defaults", status=0)
    cluster.servers[js.info(cluster.url, "S")["cluster"]["leader"]].kill()
    cluster.wait()
    refused = cli("stream rm S --force --timeout 2s", status=4).err
    assert "jsctl stream rm S --force --unprotect S deletes it without asking" in refused
    assert cli("stream rm S --force --unprotect S --timeout 2s", status=0).out == ""
    assert cli("stream info S", status=3).err


@pytest.mark.slow
def test_replicas_of_consumers_that_do_not_follow(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    """A consumer with a number of its own is lowered with its stream, and stays so when that gets more."""
    url, cli = shared_cluster.url, cluster_cli
    js.stream(url, "REP", "rep", num_replicas=3)
    for name, replicas in (("OWN", 3), ("FOLLOWS", 0)):
        config = {"durable_name": name, "ack_policy": "explicit", "num_replicas": replicas}
        js.ask(url, f"CONSUMER.CREATE.REP.{name}", {"stream_name": "REP", "config": config})
    lowered = cli("stream edit REP --replicas 1 --force", status=0).err
    assert "consumer OWN gets 1 replica, too" in lowered and "FOLLOWS" not in lowered

    def is_lowered() -> bool:  # after the stream
        return bool(js.ask_patiently(url, "CONSUMER.INFO.REP.OWN")["config"]["num_replicas"] == 1)

    wait_for(is_lowered, "the consumer keeps its replicas")
    raised = cli("stream edit REP --replicas 3 --dry-run", status=2).err
    line = "jsctl consumer edit REP OWN --replicas 3"
    assert f"consumer OWN stays at 1 replica; change that, too (without a terminal, add -f): {line}" in raised
    assert "FOLLOWS" not in raised
    cli("stream edit REP --replicas 3 --force", status=0)
    cli(f"{line.removeprefix('jsctl ')} --force", status=0)
    assert "OWN" not in cli("stream edit REP --replicas 1 --dry-run", status=2).out
