import pytest

from tests.support.run import Cli
from tests.support.servers import Cluster, HubLeaf


def test_hub_and_leaf(hub_cli: Cli, hub_leaf: HubLeaf) -> None:
    line = f"server list --server {hub_leaf.system_url}"
    shown = hub_cli(line, tty=True, status=0).out
    assert "Server Overview" in shown
    lines = [[cell.strip() for cell in line.split("│")] for line in shown.splitlines() if "│" in line]
    rows = {line[1]: line for line in reversed(lines) if len(line) > 10}
    assert rows["hub-server"][5] == "hub"
    assert rows["leaf-server"][2:4] == ["leaf-server", "127.0.0.1"], "the host is whole"
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
