"""`consumer pending` on a real server."""

import asyncio
import time

import nats
import pytest

from jsctl.base.units import SECOND, parse_time_ns
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
    assert all(one["deliveries"] == 1 and one["age_ns"] >= 0 and one["client"] is None for one in waiting)
    assert all(one["due"] is None for one in waiting)  # the server has no times of deliveries
    assert "3 Unacknowledged Messages" in cli("con pending W C", status=0, tty=True).out
    cli("con pending W X", status=3)


def test_a_message_that_its_client_delays_is_due_when_the_server_says(cli: Cli, url: str) -> None:
    js.stream(url, "W", "w.*")
    consumer(url, "W", ack_wait=60 * SECOND)
    js.publish(url, "w.a", count=3)

    async def delay() -> None:
        client = await nats.connect(url)
        first, second, _ = await (await client.jetstream().pull_subscribe_bind("C", "W")).fetch(3)
        await first.in_progress()
        await second.nak(delay=600)
        await client.close()

    now = time.time_ns()
    asyncio.run(delay())
    first, second, third = cli("con pending W C --json", status=0).json
    for one, wait in ((first, 60), (second, 600)):
        assert 0 <= parse_time_ns(one["due"]) - now - wait * SECOND < 30 * SECOND
    assert third["due"] is None


@pytest.mark.slow
def test_a_message_that_was_delivered_twice(cli: Cli, url: str) -> None:
    js.stream(url, "W", "w.*")
    consumer(url, "W", max_deliver=5, ack_wait=200_000_000)
    js.publish(url, "w.a", count=2)
    cli("con next W C --no-ack", status=0)
    wait_for(lambda: cli("con next W C --no-ack --json").json["delivered"] == 2, "it is not delivered again")
    deliveries = {one["sequence"]: one["deliveries"] for one in cli("con pending W C --json", status=0).json}
    assert deliveries[1] == 2
