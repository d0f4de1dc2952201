"""`stream cluster cancel-move`."""

import os
import re
import signal
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.tables import read_table
from tests.support.waiting import wait_until


@pytest.mark.cluster
def test_a_stream_that_is_not_moving(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    js.stream(shared_cluster.url, "STILL", "still")
    refused = cluster_cli("stream cluster cancel-move STILL", status=1)
    assert "stream STILL is not moving" in refused.err
    failed = cluster_cli("stream cluster cancel-move STILL --force", status=1).err
    assert "(10129); it has ended, or somebody else has undone it" in failed
    assert cluster_cli("stream cluster cancel-move NOPE --force", status=3).err.count("\n") == 1


def test_without_a_cluster(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s")
    assert "not in a cluster" in cli("stream cluster cancel-move S --force", status=1).err


@pytest.mark.cluster
@pytest.mark.slow
@pytest.mark.usefixtures("outputs_are_valid")
def test_a_move_that_stands_still(tmp_path: Path) -> None:
    """Of the three servers that the stream should be on, two are paused: they cannot be added."""
    cluster = Cluster(tmp_path / "servers", 5)
    for name in ("n1", "n2", "n3"):
        config = cluster.servers[name].config
        config.write_text(config.read_text() + '\nserver_tags: ["east"]\n')
    cluster.start()
    paused: list[int] = []
    try:
        system = Cli(tmp_path / "system", cluster.system_url)
        js.ask(
            cluster.url, "STREAM.CREATE.S", {"name": "S", "subjects": ["s"], "placement": {"tags": ["east"]}}
        )
        js.publish(cluster.url, "s", count=3)
        system("server cluster step-down --host n5 --force")  # refused if it leads already
        step_down = "server cluster step-down --dry-run --json"
        wait_until(lambda: system(step_down, status=0).json["leader"], lambda name: name == "n5")
        leader = js.ask(cluster.url, "STREAM.INFO.S")["cluster"]["leader"]
        running = [server for name, server in cluster.servers.items() if name in (leader, "n4", "n5")]
        for server in cluster.servers.values():
            if server not in running and server.process:
                paused.append(server.process.pid)
                os.kill(server.process.pid, signal.SIGSTOP)
        cli = Cli(tmp_path / "acc", ",".join(server.url_for("acc") for server in running))
        cli("stream edit S --replicas 3 --force", status=0)
        info = wait_until(
            lambda: cli("stream info S --json", status=0).json,
            lambda info: info["cluster"]["desired"].get("status", {}).get("type") == "quorum",
        )
        assert info["cluster"]["desired"]["origin"]["replicas"] == 1
        page = cli("stream info S", status=0).out
        assert "Cluster Migration Status:" in page and "Replicas: 1 -> 3" in page and ", (pending)" in page
        assert "Cluster Traffic Account: System Account" in page
        [row] = read_table(cli("report --no-consumers", status=0).out, "Stream Report")
        assert row["Migration"] == "waiting for quorum to add peer (quorum)"
        [listed] = read_table(cli("stream report", status=0).out, "Stream Report")
        assert listed["Migration"] == row["Migration"]
        [stream] = cli("report --json", status=0).json["reports"][0]["streams"]
        assert (stream["migration"], stream["trouble"]) == (row["Migration"], [])
        metrics = cli("exporter --textfile - --count 1", status=0).out
        assert re.search(r"^jsctl_stream_migrating{.*} 1$", metrics, re.MULTILINE)
        refused = cli("stream edit S --tag west --force", status=1).err
        assert "(10226); wait" in refused and "stream cluster cancel-move" in refused

        asking = cli.terminal("stream cluster cancel-move S")
        asking.expect("Really cancel the move of Stream S")
        cli("stream cluster cancel-move S --force", status=0)
        wait_until(
            lambda: cli("stream info S --json", status=0).json["cluster"], lambda info: "desired" not in info
        )
        asking.sendline("y")
        asking.expect("it has ended, or somebody else has undone it")
        cli("stream edit S --replicas 3 --force", status=0)

        canceled = cli("stream cluster cancel-move S", answers=[True], status=0)
        assert 'Canceled move of "S"' in canceled.out
        info = cli("stream info S --json", status=0).json
        assert info["config"]["num_replicas"] == 1 and info["state"]["messages"] == 3

        cli("stream edit S --replicas 3 --force", status=0)
        assert cli("stream cluster cancel-move S* --dry-run --json", status=0).json["streams"] == ["S"]
        many = cli("stream cluster cancel-move S*", answers=[True], status=0)
        assert many.asked == ["Really cancel the moves of 1 stream: S"]
        assert 'Canceled move of "S"' in many.out
        assert cli("stream info S --json", status=0).json["config"]["num_replicas"] == 1
    finally:
        for process in paused:
            os.kill(process, signal.SIGCONT)
        cluster.stop()
