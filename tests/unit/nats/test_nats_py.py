"""What jsctl changes in nats-py."""

import asyncio

import nats.aio.client
import pytest

import jsctl.nats.nats_py as changes

CLIENT = changes.NatsClient  # its import makes the changes


def test_a_cancellation_is_not_lost_to_a_result() -> None:
    """asyncio.wait_for of Python 3.11 would return the result."""

    async def work() -> None:
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        task = asyncio.ensure_future(vars(nats.aio.client)["asyncio"].wait_for(future, 10))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        future.set_result(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())
