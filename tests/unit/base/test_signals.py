"""Signals as the end of work."""

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable

import pytest

from jsctl.base import signals
from jsctl.base.signals import Stopped


def send(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.fixture(autouse=True)
def _handlers_are_restored() -> object:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield None
    assert [signal.getsignal(number) for number in numbers] == before


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop run until the condition is true."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  (set by a signal)
            await asyncio.sleep(0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_an_ordinary_end(number: int) -> None:
    async def work() -> str:
        ended = asyncio.Event()
        with signals.interrupts(ended.set):
            send(number)
            await asyncio.wait_for(ended.wait(), 10)
            await asyncio.sleep(0)
        return "done"

    assert asyncio.run(work()) == "done"


def test_an_inner_handler_goes_first_and_the_outer_one_is_back_after_it() -> None:
    called: list[str] = []

    async def work() -> None:
        with signals.handled({signal.SIGTERM: lambda number: called.append("outer")}):
            with signals.handled({signal.SIGTERM: lambda number: called.append("inner")}) as restore:
                send(signal.SIGTERM)
                await until(lambda: len(called) == 1)
                restore()
                send(signal.SIGTERM)
                await until(lambda: len(called) == 2)
            send(signal.SIGTERM)
            await until(lambda: len(called) == 3)

    asyncio.run(work())
    assert called == ["inner", "outer", "outer"]


def test_a_second_interrupt_ends_the_process() -> None:
    async def work() -> None:
        ended = asyncio.Event()
        with signals.interrupts(ended.set):
            send(signal.SIGINT)
            await asyncio.wait_for(ended.wait(), 10)
            send(signal.SIGINT)
            await asyncio.sleep(10)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(work())


def test_work_that_is_stopped_may_clean_up() -> None:
    cleaned: list[str] = []

    async def work() -> None:
        async with signals.stoppable() as arrived:
            try:
                send(signal.SIGHUP)
                await asyncio.sleep(10)
            finally:
                send(signal.SIGTERM)
                await until(lambda: len(arrived) == 2)
                cleaned.append(",".join(one.name for one in arrived))

    with pytest.raises(Stopped, match="stopped by SIGHUP"):
        asyncio.run(work())
    assert cleaned == ["SIGHUP,SIGTERM"]


def test_a_graceful_stop_asks_first_and_interrupts_next() -> None:
    async def work() -> None:
        with signals.graceful_stop() as stop:
            send(signal.SIGTERM)
            await asyncio.wait_for(stop.wait(), 10)
            send(signal.SIGTERM)
            await asyncio.sleep(10)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(work())


def test_the_process_ends_by_the_signal_once_all_is_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[object] = []

    async def work() -> None:
        ended = asyncio.Event()
        with signals.restoring_first(ended.set):
            send(signal.SIGTERM)
            await asyncio.wait_for(ended.wait(), 10)
            events.append("restored")
            monkeypatch.setattr(os, "kill", lambda pid, number: events.append(number))

    asyncio.run(work())
    assert events == ["restored", signal.SIGTERM]


def test_sigterm_without_a_loop_is_an_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt), signals.ending_as_interrupt():
        send(signal.SIGTERM)
        threading.Event().wait(10)


def test_sigterm_ends_a_background_job_which_ignores_sigint() -> None:
    async def work() -> None:
        with signals.graceful_stop(graceful=False):
            send(signal.SIGTERM)
            await asyncio.sleep(10)

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(KeyboardInterrupt), signals.ending_as_interrupt():
            send(signal.SIGTERM)
            threading.Event().wait(10)
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(work())
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_verb_that_ends_as_usual_by_a_signal_is_noticed_outside() -> None:
    async def work() -> None:
        ended = asyncio.Event()
        with signals.interrupts(ended.set):
            send(signal.SIGTERM)
            await asyncio.wait_for(ended.wait(), 10)

    with signals.ending_as_interrupt() as arrived, signals.ending_as_interrupt() as inner:
        asyncio.run(work())
    assert arrived == inner == [signal.SIGTERM]


def test_a_hangup_that_nohup_ignores_stays_ignored() -> None:
    async def work() -> str:
        async with signals.stoppable():
            send(signal.SIGHUP)
            await asyncio.sleep(0.01)
        return "done"

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert asyncio.run(work()) == "done"
        with signals.ending_as_interrupt():
            send(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_other_threads_handle_no_signals() -> None:
    async def work() -> str:
        with signals.interrupts(lambda: None), signals.ending_as_interrupt():
            return "done"

    results: list[str] = []
    thread = threading.Thread(target=lambda: results.append(asyncio.run(work())))
    thread.start()
    thread.join(10)
    assert results == ["done"]


def test_what_arrives_while_its_handler_goes_is_not_lost() -> None:
    """It goes to the handler outside, here asyncio's."""
    called: list[int] = []

    async def work() -> None:
        with signals.handled({signal.SIGINT: called.append}):
            send(signal.SIGINT)
        await asyncio.sleep(10)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(work())
    assert not called


def test_a_cancellation_that_is_swallowed_ends_the_block() -> None:
    async def work() -> str:
        async with signals.unlost_cancellation():
            with contextlib.suppress(asyncio.CancelledError):
                send(signal.SIGINT)
                await asyncio.sleep(10)
            return "done"

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(work())


def test_held_interrupts_wait_for_what_runs_next() -> None:
    done: list[str] = []
    with signals.HeldInterrupts() as held:
        send(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            held.run(lambda: done.append("one"))
        send(signal.SIGINT)
        held.forget()
        held.run(lambda: done.append("two"))
        with pytest.raises(KeyboardInterrupt):
            held.run(lambda: send(signal.SIGINT))
    assert done == ["two"]


def test_an_interrupt_just_before_a_call_that_blocks() -> None:
    """asyncio takes it, and cancels the task; the call would wait for ever."""

    async def read() -> None:
        signal.raise_signal(signal.SIGINT)
        with signals.blocking():
            pytest.fail("it would block")

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(read())
