"""`server report routes`."""

import pytest

from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.tables import read_table


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
