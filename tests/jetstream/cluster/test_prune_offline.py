"""`--prune` while one of three servers is dead: it removes nothing that it cannot see."""

import re
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster

DECLARED = "label: x\nstreams: [{name: A, subjects: [a]}, {name: B, subjects: [b]}]\n"


@pytest.mark.slow
def test_streams_of_a_dead_server(cluster: Cluster, tmp_path: Path) -> None:
    cli = Cli(tmp_path / "config", cluster.url)
    file = tmp_path / "streams.yaml"
    file.write_text(DECLARED)
    cli(f"apply -f {file} --force", status=0)
    leader = cli("stream info A --json", status=0).json["cluster"]["leader"]
    js.publish(cluster.servers[leader].url_for("acc"), "a", count=5)
    cluster.servers[leader].stop()
    cluster.wait()
    cli.environ["NATS_URL"] = next(
        server.url_for("acc") for server in cluster.servers.values() if server.running
    )
    file.write_text("label: x\nstreams: []\n")

    for verb in ("diff", "apply --force --allow-data-loss"):
        refused = cli(f"{verb} -f {file} --prune", status=4).err
        assert "cannot be seen, so --prune cannot tell what to remove" in refused and "A" in refused

    for flags in ("", "--json", f"--output {tmp_path}/all.yaml"):
        exported = cli(f"export config {flags}", status=4)
        assert "did not answer, and are left out or lack consumers: A" in exported.err
        text = (tmp_path / "all.yaml").read_text() if "--output" in flags else exported.out
        assert re.search(r'name"?: "?A\b', text), "what others know of it is there"
