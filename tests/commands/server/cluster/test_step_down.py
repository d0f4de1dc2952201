"""`server cluster step-down`."""

import pytest

from tests.support.run import Cli
from tests.support.waiting import wait_for

pytestmark = pytest.mark.cluster


def meta_leader(system: Cli) -> str:
    """The leader that all servers know, or nothing."""
    replies = system("server request jetstream --leader --json").json
    return str(replies[0]["server"]["name"]) if len(replies) == 1 else ""


def test_step_down(cluster_system: Cli) -> None:
    wait_for(lambda: meta_leader(cluster_system), "the meta group has no leader")
    before = meta_leader(cluster_system)
    other = "n1" if before != "n1" else "n2"
    dry = cluster_system("server cluster step-down --dry-run", status=0).out
    assert before in dry and meta_leader(cluster_system) == before
    cluster_system(f"server cluster step-down --host {other} --json", status=0)
    wait_for(lambda: meta_leader(cluster_system) not in ("", before), "no other leads")
    assert "n9" in cluster_system("server cluster step-down --host n9", status=64).err
