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

    def matching(line: str) -> list[str]:
        return cli(f"con find ORDERS {line}", status=0).out.split()

    assert matching("") == ["DONE", "FULL", "PUSH"]
    assert matching("--pull") == ["DONE", "FULL"]
    assert matching("--push") == ["PUSH"]
    assert matching("--pull --invert") == ["PUSH"]
    assert matching("--pending 1") == ["DONE"]
    assert matching("--pending 1 --invert") == ["FULL", "PUSH"]
    assert matching("--ack-pending 1 --invert") == ["FULL"]
    assert matching("--idle 1h") == ["DONE", "PUSH"]
    assert matching("--idle 1h --invert") == ["FULL"]
    assert matching("--created 1h") == []
    assert matching("--created 1h --invert") == ["DONE", "FULL", "PUSH"]
    assert matching("--bound") == []
    assert matching("--replicas 1") == ["DONE", "FULL", "PUSH"]
    assert matching("--leader nobody") == []
    assert matching("--pinned") == []
    assert matching("--expression 'config.max_ack_pending == 5'") == ["DONE"]
    assert matching("--expression 'state.num_pending > 0 && config.metadata.team == \"red\"'") == ["FULL"]
    assert matching("--expression 'Info.NumAckPending == 1'") == ["FULL"]
    assert cli("con find ORDERS --push --json", status=0).json == ["PUSH"]
    assert cli("con query ORDERS --expression 'config.'", status=64).err.startswith("jsctl: error: ")
