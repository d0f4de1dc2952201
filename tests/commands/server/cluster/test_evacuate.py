"""`server cluster evacuate`."""

from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster

pytestmark = [pytest.mark.slow, pytest.mark.cluster]


def test_what_is_refused(cluster_cli: Cli, shared_cluster: Cluster, tmp_path: Path) -> None:
    system = Cli(tmp_path / "system", shared_cluster.system_url)
    assert "has a leader" in system("server cluster rescue", status=1).err
    assert "there is no server" in system("server cluster evacuate none --force", status=3).err
    asked = system("server cluster evacuate n2", answers=[False], status=0).asked
    (question,) = asked
    assert question.startswith("Really move all streams and consumers of server n2 to others (")
    js.stream(shared_cluster.url, "S", "s")
    assert "is not a peer" in cluster_cli("stream cluster evacuate S none --force", status=3).err
    cluster_cli("consumer add S C --pull --defaults", status=0)
    assert "is not a peer" in cluster_cli("consumer cluster evacuate S C none --force", status=3).err
