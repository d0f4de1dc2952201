"""`consumer cluster cancel-move`."""

import os
import signal
from pathlib import Path

import pytest

from jsctl.jetstream.state import list_peers
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_until


@pytest.mark.cluster
def test_a_consumer_that_is_not_moving(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    js.stream(shared_cluster.url, "STILL", "still")
    cluster_cli("consumer add STILL C --pull", status=0)
    for flags in ("", "--force", "--dry-run"):
        refused = cluster_cli(f"consumer cluster cancel-move STILL C {flags}", status=1)
        assert "consumer STILL > C is not moving" in refused.err
    assert cluster_cli("consumer cluster cancel-move STILL NOPE --force", status=3).err.count("\n") == 1


@pytest.mark.cluster
@pytest.mark.slow
@pytest.mark.usefixtures("outputs_are_valid")
@pytest.mark.parametrize("edited_back", [False, True])
def test_replicas_whose_servers_are_away(tmp_path: Path, edited_back: bool) -> None:
    """The consumer returns to its one server while the others are paused, edited back by hand or not."""
    cluster = Cluster(tmp_path / "servers", 5).start()
    paused: list[int] = []
    try:
        system = Cli(tmp_path / "system", cluster.system_url)
        js.ask_patiently(cluster.url, "STREAM.CREATE.S", {"name": "S", "subjects": ["s"], "num_replicas": 3})
        js.publish(cluster.url, "s", count=3)
        everywhere = Cli(tmp_path / "acc", cluster.url)
        everywhere("consumer add S C --pull --replicas 1 --defaults", status=0)
        keeper = js.ask(cluster.url, "CONSUMER.INFO.S.C")["cluster"]["leader"]
        everywhere(f"stream cluster step-down S --preferred {keeper}")  # refused if it leads already
        wait_until(lambda: js.info(cluster.url, "S")["cluster"]["leader"], lambda name: name == keeper)
        holders = list_peers(js.info(cluster.url, "S"))
        leads = next(name for name in cluster.servers if name not in holders)
        system(f"server cluster step-down --host {leads} --force")  # refused if it leads already
        step_down = "server cluster step-down --dry-run --json"
        wait_until(lambda: system(step_down, status=0).json["leader"], lambda name: name == leads)
        running = [server for name, server in cluster.servers.items() if name not in {*holders} - {keeper}]
        for name in {*holders} - {keeper}:
            server = cluster.servers[name].process
            assert server
            paused.append(server.pid)
            os.kill(server.pid, signal.SIGSTOP)
        cli = Cli(tmp_path / "acc", ",".join(server.url_for("acc") for server in running))
        cli("consumer edit S C --replicas 3 --force", status=0)
        wait_until(
            lambda: cli("consumer info S C --json", status=0).json,
            lambda info: info["cluster"].get("desired", {}).get("status", {}).get("type") == "quorum",
        )
        if edited_back:
            cli("consumer edit S C --replicas 1 --force", status=0)
        planned = cli("consumer cluster cancel-move S C --dry-run --json", status=0).json
        assert (planned["consumer"], planned["servers"]) == ("C", [keeper])
        canceled = cli("consumer cluster cancel-move S C", answers=[True], status=0)
        assert canceled.asked == [f"Really cancel the move of Consumer S > C back to {keeper}"]
        assert 'Canceled move of "S > C"' in canceled.out
        info = cli("consumer info S C --json", status=0).json
        assert info["config"]["num_replicas"] == 1 and list_peers(info) == [keeper]
        assert info["num_pending"] == 3
        assert "is not moving" in cli("consumer cluster cancel-move S C --force", status=1).err
    finally:
        for process in paused:
            os.kill(process, signal.SIGCONT)
        cluster.stop()
