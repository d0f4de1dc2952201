"""`server report routes`, `leafnodes` and `gateways`."""

import pytest

from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.tables import read_table
from tests.support.waiting import wait_until


def test_servers_without_routes(system: Cli) -> None:
    assert system("server report routes --json", status=0).json == []
    assert "the servers have no routes" in system("server report routes", status=0).out
    assert "100ms" in system("server report routes --watch 1ms", status=64).err


@pytest.mark.slow
@pytest.mark.cluster
def test_routes(cluster_system: Cli, shared_cluster: Cluster) -> None:
    rows = cluster_system("server report routes --json", status=0).json
    assert {row["server"] for row in rows} == set(shared_cluster.servers)
    *_, footer = read_table(cluster_system("server report routes", status=0).out, "Cluster Report")
    assert [footer[title] for title in ("Server", "Cluster", "Address")] == ["3", "1", str(len(rows))]


def test_servers_without_gateways(system: Cli) -> None:
    assert system("server report gateways --json", status=0).json == []
    assert "the servers have no gateways" in system("server report gateways", status=0).out
    assert "100ms" in system("server report gateways --watch 1ms", status=64).err


def test_leafnodes_and_health(system: Cli) -> None:
    rows = system("server report leafnodes --json", status=0).json
    assert {(row["server"], row["spoke"], row["account"]) for row in rows} == {
        (server, server == "leaf-server", account)
        for server in ("hub-server", "leaf-server")
        for account in ("ACC", "SYS")
    }
    expected = {("hub-server", "ok"), ("leaf-server", "ok")}  # once what other tests left is removed

    def health() -> set[tuple[str, str]]:
        rows = system("server report health --json").json
        return {(row["server"], row["status"]) for row in rows}

    wait_until(health, lambda found: found == expected)
