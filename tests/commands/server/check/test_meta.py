"""`server check meta`."""

import pytest

from tests.support.checks import check
from tests.support.run import Cli


@pytest.mark.slow
@pytest.mark.cluster
def test_a_cluster(cluster_system: Cli) -> None:
    outcome = check(cluster_system, "meta --expect 3")
    peers = next(measure for measure in outcome["perf_data"] if measure["name"] == "peers")
    assert (outcome["status"], peers["warning"], peers["critical"]) == ("OK", 3, 3)
    assert check(cluster_system, "meta --expect 5", 2)["critical"]


def test_a_single_server(system: Cli) -> None:
    assert "are not clustered" in str(check(system, "meta --expect 3", 2)["critical"])
    assert len(system("server check meta --expect many", status=64).err.splitlines()) == 1
