"""`consumer cluster evacuate`."""

import pytest

from tests.support.consumer_leaders import leader
from tests.support.run import Cli
from tests.support.waiting import wait_for

pytestmark = pytest.mark.cluster


def test_a_consumer_leaves_a_server(replicated: Cli) -> None:
    replicated("consumer add R C --pull --replicas 1 --defaults", status=0)
    first = leader(replicated, "C")
    assert "is not a peer" in replicated("consumer cluster evacuate R C none --force", status=3).err
    done = replicated(f"consumer cluster evacuate R C {first} --force --json", status=0).json
    assert done["peer"] == first

    def moved() -> bool:
        outcome = replicated("consumer info R C --json --timeout 2s")  # between two leaders nobody answers
        return outcome.status == 0 and (outcome.json.get("cluster") or {}).get("leader") not in (
            None,
            "",
            first,
        )

    wait_for(moved, "the consumer on another server")
