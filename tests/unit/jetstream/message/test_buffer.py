"""Events between handlers and the task that takes them."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from jsctl.base.units import MS
from jsctl.errors import Unreachable
from jsctl.jetstream.message.buffer import EventBuffer


def batches(fill: Callable[[EventBuffer[int]], None], idle: int = 0) -> list[Sequence[int]]:
    """The batches of a buffer that `fill` adds to as soon as it is read."""

    async def run() -> list[Sequence[int]]:
        buffer: EventBuffer[int] = EventBuffer()
        asyncio.get_running_loop().call_soon(fill, buffer)
        return [batch async for batch in buffer.read_batches(idle)]

    return asyncio.run(asyncio.wait_for(run(), 5))


def test_what_is_added_together_is_one_batch_and_nothing_is_lost_at_the_end() -> None:
    def fill(buffer: EventBuffer[int]) -> None:
        buffer.add(1)
        buffer.add(2)
        asyncio.get_running_loop().call_later(0.01, last, buffer)

    def last(buffer: EventBuffer[int]) -> None:
        buffer.add(3)
        buffer.close()

    assert batches(fill) == [[1, 2], [3]]


def test_a_batch_stays_one_between_what_is_added_singly() -> None:
    def fill(buffer: EventBuffer[int]) -> None:
        for events in ([1], (2, 3), (4,), [5]):
            if isinstance(events, tuple):
                buffer.extend(events)
            else:
                buffer.add(*events)
        buffer.add(6)
        buffer.close()

    assert batches(fill) == [[1], (2, 3), (4,), [5, 6]]


def test_the_first_error_is_raised_after_the_events() -> None:
    taken: list[int] = []

    async def run() -> None:
        buffer: EventBuffer[int] = EventBuffer()
        buffer.add(1)
        buffer.close(Unreachable("first"))
        buffer.close(Unreachable("second"))
        async for batch in buffer.read_batches():
            taken.extend(batch)

    with pytest.raises(Unreachable, match="first"):
        asyncio.run(run())
    assert taken == [1]


def test_the_end_of_the_work_that_fills_it_closes_it() -> None:
    async def run() -> list[Sequence[int]]:
        buffer: EventBuffer[int] = EventBuffer()

        async def work() -> None:
            buffer.add(1)

        buffer.close_after(asyncio.ensure_future(work()))
        return [batch async for batch in buffer.read_batches()]

    assert asyncio.run(asyncio.wait_for(run(), 5)) == [[1]]


def test_it_ends_after_the_idle_time_which_a_touch_restarts() -> None:
    assert batches(lambda buffer: buffer.add(1), idle=20 * MS) == [[1]]

    async def touched() -> float:
        buffer: EventBuffer[int] = EventBuffer()
        loop = asyncio.get_running_loop()
        touched_at: list[float] = []

        def touch() -> None:
            touched_at.append(loop.time())
            buffer.reset_idle_time()

        loop.call_later(0.03, touch)
        async for _ in buffer.read_batches(200 * MS):
            pass
        return loop.time() - touched_at[0]

    assert asyncio.run(touched()) >= 0.19
