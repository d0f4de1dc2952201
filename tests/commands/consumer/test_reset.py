"""`consumer reset` on a real server."""

import time

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
    ahead = "of what is stored from now on, the first 994 messages will be skipped"
    assert questions == [
        f"Really reset Consumer ORDERS > R to sequence 1,000; 5 messages are skipped and {ahead}"
    ]
    # A variable of a script that is not set is no wish for the ack floor.
    assert "--time is empty" in cli("con reset ORDERS R --time '' -f", status=64).err


def test_where_to(cli: Cli, url: str) -> None:
    """What comes again and what is skipped is counted before."""
    js.publish(url, "ORDERS.a", count=3)
    js.publish(url, "ORDERS.b", count=3)
    cli("con add ORDERS NEW_1 --pull", status=0)
    cli("con add ORDERS NEW_2 --pull --filter ORDERS.b", status=0)
    cli("con add ORDERS OTHER --pull", status=0)
    cli("con next ORDERS NEW_1 --count 4", status=0)
    cli("con next ORDERS NEW_2 --count 1", status=0)
    third = cli("stream get ORDERS 3 --json", status=0).json["time"]

    def preview(line: str) -> tuple[int, int, int]:
        would = cli(f"con reset ORDERS {line} --dry-run --json", status=0).json
        return would["sequence"], would["again"], would["skipped"]

    assert preview("NEW_1 --sequence 2") == (2, 3, 0)
    assert preview(f"NEW_1 --time {third}") == (3, 2, 0)
    assert preview("NEW_1 --time 1h") == (1, 4, 0)
    assert preview("NEW_1 --end") == (7, 0, 2)
    assert preview("NEW_2 --sequence 1") == (1, 1, 0)
    assert cli(f"con reset ORDERS NEW_1 --time {third} -f --json", status=0).json["num_pending"] == 4
    assert cli("con reset ORDERS NEW_1 --end -f --json", status=0).json["num_pending"] == 0
    js.publish(url, "ORDERS.a")
    assert "str seq: 7" in cli("con next ORDERS NEW_1", status=0).out
    would = cli("con reset ORDERS 'NEW_*' --time 1h --dry-run", status=0).out
    assert "NEW_1 to sequence 1; 7 messages come again" in would and "NEW_2" in would and "OTHER" not in would
    after = cli("con reset ORDERS 'NEW_*' --time 1h -f --json", status=0).json
    assert [(one["name"], one["num_pending"]) for one in after] == [("NEW_1", 7), ("NEW_2", 3)]
    assert "matches X*" in cli("con reset ORDERS 'X*' -f", status=3).err
    assert "only one of" in cli("con reset ORDERS NEW_1 --end --time 1h -f", status=64).err
    assert "is not a time" in cli("con reset ORDERS NEW_1 --time soon -f", status=64).err


@pytest.mark.parametrize("by", ["sequence", "time"])
def test_below_its_start(cli: Cli, url: str, by: str) -> None:
    """What the server would refuse is refused before anything is reset; the ack floor always works."""
    js.publish(url, "ORDERS.a", count=3)
    time.sleep(0.01)
    js.publish(url, "ORDERS.a", count=3)
    fourth = cli("stream get ORDERS 4 --json", status=0).json["time"]
    cli(f"con add ORDERS LATE --pull --deliver {4 if by == 'sequence' else fourth}", status=0)
    cli("con add ORDERS LATER --pull", status=0)
    cli("con next ORDERS LATER --count 2", status=0)
    for sequence in range(1, 8):
        outcome = cli(f"con reset ORDERS 'LATE*' --sequence {sequence} -f")
        if sequence >= 4:
            assert outcome.status == 0, outcome
        else:
            assert outcome.status == 64 and "starts at sequence 4 by its configuration" in outcome.err, (
                outcome
            )
            assert js.ask(url, "CONSUMER.INFO.ORDERS.LATER")["delivered"]["stream_seq"] == 2
    cli("con reset ORDERS LATE --sequence 4 -f", status=0)
    cli("stream purge ORDERS --seq 6 -f", status=0)
    assert cli("con reset ORDERS LATE -f --json", status=0).json["num_pending"] == 1
