"""Connections of a watch, where their servers are away."""

import asyncio
import gc
from typing import Any

import pytest

from jsctl.contexts.settings import Settings
from jsctl.monitor.report.watching import Link
from tests.support.servers import free_port


@pytest.mark.parametrize("turns", range(0, 40, 2))
def test_a_failure_that_nobody_awaits_any_more(turns: int) -> None:
    """Those who wait for a connection are cancelled, any number of turns of the loop after it was begun."""
    reported: list[dict[str, Any]] = []

    async def fetch(_: object) -> None: ...

    async def work() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, report: reported.append(report))
        settings = Settings(url=f"nats://127.0.0.1:{free_port()}")
        link = Link(settings)
        waiting = asyncio.ensure_future(link.fetch(fetch, settings))
        for _ in range(turns):
            await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        if opening := link._opening:
            await asyncio.wait([opening])
        await link.close()

    asyncio.run(work())
    gc.collect()
    assert not reported
