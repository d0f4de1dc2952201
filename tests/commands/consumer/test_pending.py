"""`consumer pending` on a real server."""

import pytest

from tests.support import js
from tests.support.dead_letters import consumer
from tests.support.run import Cli
from tests.support.waiting import wait_for


def test_pending(cli: Cli, url: str) -> None:
    js.stream(url, "W", "w.*")
    consumer(url, "W", ack_wait=3_600_000_000_000)
    js.publish(url, "w.a", count=3)
    js.publish(url, "w.b", count=3)
    assert cli("con pending W C", status=0).out == "Consumer W > C waits for no acknowledgements\n"
    cli("con next W C --count 2 --no-ack", status=0)
    cli("con next W C", status=0)
    cli("con next W C --no-ack", status=0)
    waiting = cli("con pending W C --json", status=0).json
    assert [(one["sequence"], one["subject"]) for one in waiting] == [(1, "w.a"), (2, "w.a"), (4, "w.b")]
    assert all(one["deliveries"] == 1 and one["waiting_ns"] >= 0 for one in waiting)
    assert all(one["time"] <= one["delivered"] < one["due"] and one["client"] is None for one in waiting)
    assert "3 Unacknowledged Messages" in cli("con pending W C", status=0, tty=True).out
    cli("con pending W X", status=3)


@pytest.mark.slow
def test_a_message_that_was_delivered_twice(cli: Cli, url: str) -> None:
    js.stream(url, "W", "w.*")
    consumer(url, "W", max_deliver=5, ack_wait=200_000_000)
    js.publish(url, "w.a", count=2)
    cli("con next W C --no-ack", status=0)
    wait_for(lambda: cli("con next W C --no-ack --json").json["delivered"] == 2, "it is not delivered again")
    deliveries = {one["sequence"]: one["deliveries"] for one in cli("con pending W C --json", status=0).json}
    assert deliveries[1] == 2
