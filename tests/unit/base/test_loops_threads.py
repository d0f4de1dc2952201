"""What runs in threads ends before its files are closed, however often it is cancelled."""

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from jsctl.base.loops import run_abandonable, run_in_thread


def test_a_second_cancellation_waits_too(caplog: pytest.LogCaptureFixture) -> None:
    going, ended = threading.Event(), threading.Event()

    def write() -> None:
        going.wait(10)
        ended.set()
        raise OSError("the disk is full")

    async def work() -> None:
        task = asyncio.ensure_future(run_in_thread(write))
        for _ in range(2):
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            task.cancel()
        threading.Timer(0.05, going.set).start()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set()

    asyncio.run(work())
    assert not caplog.records  # asyncio writes tracebacks of errors that nobody has seen


def test_work_that_calls_its_progress_ends_when_it_is_cancelled() -> None:
    going = threading.Event()

    def read(advance: Callable[[int], object]) -> None:
        while True:
            advance(1)
            going.set()

    async def work() -> None:
        task = asyncio.ensure_future(run_in_thread(read, advance=lambda count: None))
        await asyncio.to_thread(going.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 10)

    asyncio.run(work())


def test_the_result_and_the_error_come_through() -> None:
    assert asyncio.run(run_in_thread(len, "abc")) == 3
    with pytest.raises(OSError, match="full"):
        asyncio.run(run_in_thread(_fail))


def _fail() -> None:
    raise OSError("full")


def test_nobody_waits_for_abandoned_work() -> None:
    going, ended = threading.Event(), threading.Event()

    def ask() -> None:
        going.set()
        ended.wait(60)

    async def work() -> None:
        assert await run_abandonable(len, "abc") == 3
        with pytest.raises(OSError, match="full"):
            await run_abandonable(_fail)
        task = asyncio.ensure_future(run_abandonable(ask))
        await asyncio.to_thread(going.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    begin = time.monotonic()
    asyncio.run(work())
    assert time.monotonic() - begin < 20
    ended.set()
