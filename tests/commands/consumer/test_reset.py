"""`consumer reset` on a real server."""

import pytest

from tests.support import js
from tests.support.run import Cli

pytestmark = pytest.mark.usefixtures("orders")


def test_reset(cli: Cli, url: str) -> None:
    cli("con add ORDERS R --pull", status=0)
    js.publish(url, "ORDERS.a", count=5)
    cli("con next ORDERS R --count 2", status=0)
    cli("con next ORDERS R --count 3 --no-ack", status=0)
    state = cli("con reset ORDERS R --force --json", status=0).json
    assert (state["num_pending"], state["ack_floor"]["stream_seq"]) == (3, 2)
    assert "str seq: 3" in cli("con next ORDERS R", status=0).out
    assert cli("con reset ORDERS R --sequence 1 -f --json", status=0).json["num_pending"] == 5
    # What was given up comes again, too.
    cli("con add ORDERS TRY --pull --max-deliver 1 --wait 200ms", status=0)
    cli("con next ORDERS TRY", status=0)
    cli("con next ORDERS TRY --count 4 --no-ack", status=0)
    cli("con next ORDERS TRY --timeout 500ms", status=3)
    assert cli("con reset ORDERS TRY -f --json", status=0).json["num_pending"] == 4
    cli("con add ORDERS LAST --pull --deliver last", status=0)
    assert cli("con reset ORDERS LAST -f --json", status=0).json["num_pending"] == 1
    assert "can only go back to its ack floor" in cli("con reset ORDERS LAST --sequence 2 -f", status=64).err
    questions = cli("con reset ORDERS R --sequence 1000", tty=True, answers=[False], status=0).asked
    assert questions == ["Really reset Consumer ORDERS > R to sequence 1,000"]
