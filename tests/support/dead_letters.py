"""Consumers that give messages up."""

import asyncio
from collections.abc import Collection
from typing import Any

import nats

from tests.support import js
from tests.support.waiting import wait_for


def consumer(url: str, stream: str, name: str = "C", **config: Any) -> None:
    """Create a consumer that gives up after two deliveries, 300 ms apart."""
    wanted = {"durable_name": name, "ack_policy": "explicit", "max_deliver": 2, "ack_wait": 300_000_000}
    js.ask(
        url,
        f"CONSUMER.CREATE.{stream}.{name}",
        {"stream_name": stream, "config": {"max_ack_pending": 20_000, **wanted, **config}},
    )


def work_off(
    url: str,
    stream: str,
    name: str = "C",
    *,
    failing: Collection[int] = (),
    terminated: Collection[int] = (),
) -> None:
    """Acknowledge all messages but those that fail, until the consumer has nothing left; terminate some."""

    async def work() -> None:
        client = await nats.connect(url.split(","))
        subscription = await client.jetstream().pull_subscribe_bind(name, stream)
        while True:
            try:
                messages = await subscription.fetch(1000, timeout=0.2)
            except TimeoutError:
                break
            for message in messages:
                sequence = message.metadata.sequence.stream
                if sequence in terminated:
                    await message.term()
                elif sequence not in failing:
                    await message.ack()
        await client.flush()
        await client.close()

    def is_done() -> bool:
        info = js.ask(url, f"CONSUMER.INFO.{stream}.{name}")
        return not info["num_ack_pending"] and not info["num_pending"]

    def try_again() -> bool:
        if not is_done():
            asyncio.run(work())
        return is_done()

    wait_for(try_again, f"{stream} > {name} is not done", 60)
