"""The system account of a hub with a leaf node."""

from pathlib import Path

import pytest

from tests.support.run import Cli
from tests.support.servers import Cluster, HubLeaf


@pytest.fixture
def system(tmp_path: Path, hub_leaf: HubLeaf) -> Cli:
    return Cli(tmp_path / "system", hub_leaf.system_url)


@pytest.fixture
def cluster_system(cluster_cli: Cli, shared_cluster: Cluster, tmp_path: Path) -> Cli:
    """The system account of the cluster; `cluster_cli` removes the streams."""
    return Cli(tmp_path / "system", shared_cluster.system_url)
