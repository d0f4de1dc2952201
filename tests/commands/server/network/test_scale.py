"""`server network add` and `scale`."""

import pytest

from jsctl.localserver import processes
from tests.support.networks import Networks

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("outputs_are_valid")]


def test_a_cluster_grows_and_shrinks(networks: Networks) -> None:
    networks("up cluster --port 0 --name grown")
    folder = networks.folder("grown")
    networks("add cluster --network grown")
    assert len(networks.servers("grown")) == 4
    networks.at("grown", "stream add R3 --subjects r3 --replicas 3 --defaults --context grown-cluster")
    assert "Would stop cluster-4 of network grown" in networks("scale cluster 3 -n grown --dry-run")
    assert networks.cli("server network scale cluster 3 -n grown --dry-run --json", status=0).json["dry_run"]
    assert "Would start cluster-5 of network grown" in networks("scale cluster 5 -n grown --dry-run")
    assert len(networks.servers("grown")) == 4
    networks("scale cluster 3 -n grown")
    networks("down grown --keep-data")
    assert not processes.find_all(folder)
    networks("up cluster --name grown")
    assert networks.at("grown", "stream ls --names --context grown-cluster").strip() == "R3"
    networks("down grown --force")
    assert not folder.exists()


def test_a_single_server_stays_one(networks: Networks, pair: str) -> None:
    assert "cluster hub has 1 server" in networks(f"scale hub 1 -n {pair}")
    for line in ("scale hub 3", "add hub"):
        assert "hub is a single server, which cannot become a cluster" in networks(f"{line} -n {pair}", 64)
