"""Counters, services and benchmarks over a leaf node and in a cluster."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.run import Cli
from tests.support.servers import Cluster, HubLeaf
from tests.support.waiting import wait_for

pytestmark = pytest.mark.cluster


@contextmanager
def serving(cli: Cli, name: str) -> Iterator[None]:
    """A service runs, connected as `cli` is."""
    running = cli.start(["service", "serve", name], stdout=None, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        running.terminate()
        running.wait()


def test_a_counter_of_another_domain(hub_cli: Cli) -> None:
    line = "stream add HITS --subjects hits.> --allow-counter --defaults --js-domain leaf"
    hub_cli(line, status=0)
    number = "1" + "0" * 60
    assert hub_cli(f"counter increment hits.a {number} --js-domain leaf", status=0).out == f"{number}\n"
    hub_cli("stream add TOTAL --source HITS@leaf --allow-counter --defaults --js-domain hub", status=0)
    at_hub = "counter get hits.a --stream TOTAL --js-domain hub"
    wait_for(lambda: hub_cli(at_hub).out == f"{number}\n", "the hub has the sum")
    parts = hub_cli("counter view hits.a --stream TOTAL --js-domain hub --json", status=0).json["sources"]
    ((stream, by_subject),) = parts.items()
    assert stream.split(":")[0] == "HITS" and by_subject == {"hits.a": number}
    refused = hub_cli("counter decrement hits.a --stream TOTAL --js-domain hub", status=1).err
    assert "does not store what is published to hits.a" in refused


def test_a_service_behind_a_leaf_node(hub_cli: Cli, hub_leaf: HubLeaf, tmp_path: Path) -> None:
    at_leaf = Cli(tmp_path / "leaf", hub_leaf.leaf.url_for("acc"))
    with serving(at_leaf, "far"), serving(hub_cli, "far"):

        def instances() -> int:
            return (
                len(hub_cli("service info far --json").json["instances"])
                if hub_cli("service info far").status == 0
                else 0
            )

        wait_for(lambda: instances() == 2, "both instances answer")
        assert hub_cli("service request far echo hello -r", status=0).out == "hello\n"
        assert len(at_leaf("service stats far --json", status=0).json) == 2
        assert {one["name"] for one in hub_cli("service ping --json", status=0).json} == {"far"}


def test_benchmarks_of_another_domain(hub_cli: Cli) -> None:
    for line in ("js pub async far.bench --create", "js consume", "kv put", "object put --size 1000"):
        done = hub_cli(f"bench {line} --msgs 20 --js-domain leaf --no-progress --json", status=0).json
        assert done["messages"] == 20 and done["complete"], line
    streams = hub_cli("stream ls --names -a --js-domain leaf", status=0).out.split()
    assert {"benchstream", "KV_benchbucket"} <= set(streams)
    assert json.loads(hub_cli("stream ls --json -a --js-domain hub", status=0).out) == []


def test_a_cluster(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    cli = cluster_cli
    cli("stream add HITS3 --subjects hits3.> --allow-counter --replicas 3 --defaults", status=0)
    for url in shared_cluster.url.split(","):
        cli(f"counter increment hits3.a 2 --server {url}", status=0)
    assert cli("counter get hits3.a", status=0).out == "6\n"
    wait_for(
        lambda: cli("counter list --rows --json", status=0).json[0]["value"] == "6", "every replica counts 6"
    )
    done = cli("bench js pub fast bench3 --create --replicas 3 --msgs 50 --no-progress --json", status=0)
    assert done.json["complete"] and done.json["messages"] == 50
    for name in ("HITS3", "benchstream"):
        cli(f"stream rm {name} --force", status=0)
