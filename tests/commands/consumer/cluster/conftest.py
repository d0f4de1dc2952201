"""A stream with three replicas."""

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster


@pytest.fixture
def replicated(cluster_cli: Cli, shared_cluster: Cluster) -> Cli:
    js.stream(shared_cluster.url, "R", "r.>", num_replicas=3)
    return cluster_cli
