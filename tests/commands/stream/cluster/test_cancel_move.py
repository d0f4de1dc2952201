"""`stream cluster cancel-move`."""

import os
import signal
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_until


@pytest.mark.cluster
def test_a_stream_that_is_not_moving(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    js.stream(shared_cluster.url, "STILL", "still")
    refused = cluster_cli("stream cluster cancel-move STILL", status=1)
    assert "stream STILL is not moving" in refused.err
    assert "10129" in cluster_cli("stream cluster cancel-move STILL --force", status=1).err
    assert cluster_cli("stream cluster cancel-move NOPE --force", status=3).err.count("\n") == 1


def test_without_a_cluster(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s")
    assert "not in a cluster" in cli("stream cluster cancel-move S --force", status=1).err


@pytest.mark.cluster
@pytest.mark.slow
def test_a_move_that_stands_still(tmp_path: Path) -> None:
    """One of the servers that the stream should be on is paused."""
    cluster = Cluster(tmp_path / "servers").start()
    paused = 0
    try:
        cli = Cli(tmp_path / "acc", cluster.url)
        js.stream(cluster.url, "S", "s")
        js.publish(cluster.url, "s", count=3)
        leader = js.ask(cluster.url, "STREAM.INFO.S")["cluster"]["leader"]
        system = Cli(tmp_path / "system", cluster.system_url)
        meta = system("server cluster step-down --dry-run --json", status=0).json["leader"]
        other = next(server for name, server in cluster.servers.items() if name not in (leader, meta))
        assert other.process
        paused = other.process.pid
        os.kill(paused, signal.SIGSTOP)
        js.ask(cluster.url, "STREAM.UPDATE.S", {"name": "S", "subjects": ["s"], "num_replicas": 3})
        info = wait_until(
            lambda: js.ask(cluster.url, "STREAM.INFO.S"), lambda info: info["cluster"].get("desired")
        )
        assert info["cluster"]["desired"]["origin"] == {"replicas": 1}
        canceled = cli("stream cluster cancel-move S", answers=[True], status=0)
        assert 'Canceled move of "S"' in canceled.out
        info = js.ask(cluster.url, "STREAM.INFO.S")
        assert info["config"]["num_replicas"] == 1 and info["state"]["messages"] == 3
    finally:
        if paused:
            os.kill(paused, signal.SIGCONT)
        cluster.stop()
