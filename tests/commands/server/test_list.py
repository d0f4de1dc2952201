import pytest

from tests.support.run import Cli
from tests.support.servers import Cluster, HubLeaf
from tests.support.tables import read_table


def test_hub_and_leaf(hub_cli: Cli, hub_leaf: HubLeaf) -> None:
    line = f"server list --server {hub_leaf.system_url}"
    shown = hub_cli(line, tty=True, status=0).out
    rows = {row["Name"]: row for row in read_table(shown, "Server Overview")}
    assert rows["hub-server"]["JS"] == "hub"
    assert rows["leaf-server"]["Cluster"] == "leaf-server"
    assert rows["leaf-server"]["Host"] == "127.0.0.1", "it is whole"
    result = hub_cli(f"{line} --json", status=0).json
    assert {reply["server"]["name"] for reply in result} == {"hub-server", "leaf-server"}
    assert all("statsz" in reply for reply in result)


def test_expected_servers(hub_cli: Cli, hub_leaf: HubLeaf) -> None:
    line = f"srv ls --server {hub_leaf.system_url}"
    assert hub_cli(f"{line} 2", status=0).err == ""
    outcome = hub_cli(f"{line} 3", status=1)
    assert outcome.err == "2 of 3 servers replied\n"
    assert "hub-server" in outcome.out


def test_without_the_system_account(cli: Cli) -> None:
    outcome = cli("server list --timeout 1s", status=5)
    assert "system account" in outcome.err
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.cluster
def test_routes_of_a_pool_count_once(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    out = cluster_cli(f"server list 3 --server {shared_cluster.system_url} --as csv", status=0).out
    head, *rows = [line.split(",") for line in out.splitlines()]
    assert [row[head.index("routes")] for row in rows] == ["2", "2", "2"]
