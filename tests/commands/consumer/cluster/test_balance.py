"""`consumer cluster balance`."""

from collections import Counter

import pytest

from tests.support.consumer_leaders import leader
from tests.support.run import Cli

pytestmark = pytest.mark.cluster


def test_balance(replicated: Cli) -> None:
    for number in range(6):
        replicated(f"consumer add R C{number} --pull", status=0)
        if leader(replicated, f"C{number}") != "n1":
            replicated(f"con c step-down R C{number} --preferred n1", status=0)
    led = Counter(leader(replicated, f"C{number}") for number in range(6))
    over = sum(max(0, count - 2) for count in led.values())  # an election need not go as preferred
    assert over
    planned = replicated("consumer cluster balance R --dry-run --json", status=0).json
    assert planned["balanced"] == 0
    assert len(planned["moves"]) == over
    done = replicated("consumer cluster balance R", status=0)
    assert f"Balanced {over} consumer" in done.out
    leaders = sorted(leader(replicated, f"C{number}") for number in range(6))
    assert leaders == ["n1", "n1", "n2", "n2", "n3", "n3"]
    assert "Balanced 0 consumers" in replicated("consumer cluster balance R", status=0).out
    assert "none of these consumers" in replicated("con c balance R --push", status=1).err
