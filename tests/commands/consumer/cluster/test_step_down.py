"""`consumer cluster step-down`."""

import pytest

from tests.support.consumer_leaders import leader
from tests.support.run import Cli

pytestmark = pytest.mark.cluster


def test_step_down(replicated: Cli) -> None:
    replicated("consumer add R C --pull", status=0)
    before = leader(replicated, "C")
    done = replicated("consumer cluster step-down R C", tty=True, status=0)
    after = leader(replicated, "C")
    assert after and after != before
    assert f"Requesting leader step down of {before} for consumer R > C, 3 peers" in done.err
    assert f"New leader elected: {after}" in done.err
    assert "Cluster Information:" in done.out
    assert f"Leader: {after}" in done.out
    assert "Raft Group: C-R3" in done.out
    replicated(f"con c elect R C --preferred {before}", status=0)
    assert leader(replicated, "C") == before
    assert (
        "n9 cannot lead: it is not a follower; the followers are: "
        in replicated("con c d R C --preferred n9", status=64).err
    )
    assert "consumer R > NO not found" in replicated("con c down R NO", status=3).err
