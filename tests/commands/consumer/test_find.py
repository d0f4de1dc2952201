"""`consumer find` on a real server."""

import pytest

from tests.support import js
from tests.support.run import Cli

pytestmark = pytest.mark.usefixtures("orders")


def test_find(cli: Cli, url: str) -> None:
    js.publish(url, "ORDERS.a", count=5)
    cli("con add ORDERS FULL --pull --metadata team=red", status=0)
    cli("con add ORDERS DONE --pull --deliver new --max-pending 5", status=0)
    cli("con add ORDERS PUSH --target p --heartbeat 1s", status=0)
    cli("con next ORDERS FULL --no-ack", status=0)

    def found(line: str) -> list[str]:
        return cli(f"con find ORDERS {line}", status=0).out.split()

    assert found("") == ["DONE", "FULL", "PUSH"]
    assert found("--pull") == ["DONE", "FULL"]
    assert found("--push") == ["PUSH"]
    assert found("--pull --invert") == ["PUSH"]
    assert found("--pending 1") == ["DONE"]
    assert found("--pending 1 --invert") == ["FULL", "PUSH"]
    assert found("--ack-pending 1 --invert") == ["FULL"]
    assert found("--idle 1h") == ["DONE", "PUSH"]
    assert found("--idle 1h --invert") == ["FULL"]
    assert found("--created 1h") == []
    assert found("--created 1h --invert") == ["DONE", "FULL", "PUSH"]
    assert found("--bound") == []
    assert found("--replicas 1") == ["DONE", "FULL", "PUSH"]
    assert found("--leader nobody") == []
    assert found("--pinned") == []
    assert found("--expression 'config.max_ack_pending == 5'") == ["DONE"]
    assert found("--expression 'state.num_pending > 0 && config.metadata.team == \"red\"'") == ["FULL"]
    assert found("--expression 'Info.NumAckPending == 1'") == ["FULL"]
    assert cli("con find ORDERS --push --json", status=0).json == ["PUSH"]
    assert cli("con query ORDERS --expression 'config.'", status=64).err.startswith("jsctl: error: ")
