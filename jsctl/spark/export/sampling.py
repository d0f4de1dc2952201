"""Samples over time, written in batches: memory stays bounded, and a kill costs one batch at most."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from jsctl.spark.export.write import Rows
from jsctl.spark.export.writer import Writer
from jsctl.units import SECOND

FLUSH_EVERY = 60 * SECOND
FLUSH_ROWS = 10_000


async def sample(
    first: Rows,
    take: Callable[[], Awaitable[Rows]],
    writer: Writer,
    every: int,
    duration: int,
    stop: asyncio.Event,
) -> None:
    """Take samples `every` ns for `duration` ns (0: until `stop`) and write them.

    `first` was just taken; with `every` 0 it is the only one. A sample that takes longer than `every` makes
    the next ones late, not more frequent. `stop` ends it early; all that was taken is written.
    """
    loop = asyncio.get_running_loop()
    begin = flushed = loop.time()
    due = 0
    buffer: dict[str, list[Any]] = {name: list(rows) for name, rows in first.items()}
    while every and (not duration or due + every <= duration):
        due = max(due + every, int((loop.time() - begin) * SECOND))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), max(0.0, begin + due / SECOND - loop.time()))
        if stop.is_set():
            break
        for name, rows in (await take()).items():
            buffer[name].extend(rows)
        if loop.time() - flushed >= FLUSH_EVERY / SECOND or sum(map(len, buffer.values())) >= FLUSH_ROWS:
            await writer.write(buffer)
            buffer, flushed = {name: [] for name in buffer}, loop.time()
    await writer.write(buffer)
