"""What a backup does in threads ends before its files are closed, however often it is cancelled."""

import asyncio
import threading

import pytest

from jsctl.jetstream.backup.stream_backup import _run_in_thread


def test_a_second_cancellation_waits_too(caplog: pytest.LogCaptureFixture) -> None:
    going, ended = threading.Event(), threading.Event()

    def write() -> None:
        going.wait(10)
        ended.set()
        raise OSError("the disk is full")

    async def work() -> None:
        task = asyncio.ensure_future(_run_in_thread(write))
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


def test_the_result_and_the_error_come_through() -> None:
    assert asyncio.run(_run_in_thread(len, "abc")) == 3
    with pytest.raises(OSError, match="full"):
        asyncio.run(_run_in_thread(_fail))


def _fail() -> None:
    raise OSError("full")
