"""Objects in a cluster and over a leaf node: three copies while the leader is killed, and another domain."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster, HubLeaf
from tests.support.waiting import wait_for


def start(cli: Cli, *args: str) -> subprocess.Popen[str]:
    return cli.start(["object", *args])


@pytest.mark.cluster
def test_a_killed_leader_loses_nothing(cluster: Cluster, tmp_path: Path) -> None:
    cli = Cli(tmp_path, cluster.url)
    cli("object add B --replicas 3", status=0)
    source, copy = tmp_path / "big", tmp_path / "copy"
    source.write_bytes(os.urandom(60_000_000))
    leader = js.ask_patiently(cluster.url, "STREAM.INFO.OBJ_B")["cluster"]["leader"]
    running = start(cli, "put", "B", str(source), "--name", "big", "--chunk-size", "8192", "--timeout", "8s")

    def stored() -> int:
        return int(js.ask_patiently(cluster.url, "STREAM.INFO.OBJ_B")["state"]["messages"])

    wait_for(lambda: stored() > 100, "chunks are stored")
    cluster.servers[leader].kill()
    out, err = running.communicate(timeout=100)
    assert running.returncode == 0, err
    assert "sending again what is missing" in err and "60,000,000 bytes" in out
    alive = next(server for server in cluster.servers.values() if server.running)
    reading = Cli(tmp_path, alive.url_for("acc"))
    assert reading(f"object get B big -O {copy}", status=0)
    assert copy.read_bytes() == source.read_bytes()
    assert reading("object status B --json", status=0).json[0]["unfinished"] == 0


def test_another_domain(hub_cli: Cli, hub_leaf: HubLeaf, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(os.urandom(500_000))
    hub_cli("object add FILES --js-domain leaf", status=0)
    hub_cli(f"object put FILES {tmp_path}/file --name a --js-domain leaf", status=0)
    at_leaf = Cli(tmp_path, hub_leaf.leaf.url_for("acc"))
    at_leaf(f"object get FILES a -O {tmp_path}/copy", status=0)
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "file").read_bytes()
    hub_cli(f"object get FILES a -O {tmp_path}/again --js-domain leaf", status=0)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "file").read_bytes()
    assert hub_cli("object ls --json --js-domain leaf", status=0).json == ["FILES"]
