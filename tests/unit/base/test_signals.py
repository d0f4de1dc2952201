"""Signals as the end of work."""

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable

import pytest

from jsctl.base import signals
from jsctl.base.loops import run_in_loop
from jsctl.base.signals import Stopped


def send(number: int) -> None:
    os.kill(os.getpid(), number)


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop run until the condition is true."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  (set by a signal)
            await asyncio.sleep(0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_an_ordinary_end(number: int) -> None:
    async def work() -> str:
        ended = asyncio.Event()
        with signals.handle_signals(ended.set, once=True):
            send(number)
            await asyncio.wait_for(ended.wait(), 60)
            await asyncio.sleep(0)
        return "done"

    assert asyncio.run(work()) == "done"


def test_an_inner_handler_goes_first_and_the_outer_one_is_back_after_it() -> None:
    called: list[str] = []

    async def work() -> None:
        with signals.handle_signals(lambda: called.append("outer"), [signal.SIGTERM]):
            with signals.handle_signals(lambda: called.append("inner"), [signal.SIGTERM], once=True):
                send(signal.SIGTERM)
                await until(lambda: len(called) == 1)
                send(signal.SIGTERM)
                await until(lambda: len(called) == 2)
            send(signal.SIGTERM)
            await until(lambda: len(called) == 3)

    asyncio.run(work())
    assert called == ["inner", "outer", "outer"]


def test_a_second_interrupt_ends_the_process() -> None:
    async def work() -> None:
        ended = asyncio.Event()
        with signals.handle_signals(ended.set, once=True):
            send(signal.SIGINT)
            await asyncio.wait_for(ended.wait(), 60)
            send(signal.SIGINT)
            await asyncio.sleep(10)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(work())


def test_the_next_loop_is_interrupted_as_the_first() -> None:
    """What handles signals in a generator that nobody reads to its end ends after the loop has restored its
    own handler."""

    async def read() -> AsyncIterator[int]:
        with signals.handle_signals(lambda: None):
            yield 1

    async def abandon() -> None:
        async for _ in read():
            break

    async def be_interrupted() -> None:
        send(signal.SIGINT)
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            cleaned.append("up")
            raise

    cleaned: list[str] = []
    run_in_loop(abandon())
    with pytest.raises(KeyboardInterrupt):
        run_in_loop(be_interrupted())
    assert cleaned == ["up"]


def test_work_that_is_stopped_may_clean_up() -> None:
    cleaned: list[int] = []

    async def work() -> None:
        async with signals.stoppable() as arrived:
            try:
                send(signal.SIGHUP)
                await asyncio.sleep(10)
            finally:
                send(signal.SIGTERM)
                await until(lambda: len(arrived) == 2)
                cleaned.extend(arrived)

    with pytest.raises(Stopped, match="stopped by SIGHUP"):
        asyncio.run(work())
    assert cleaned == [signal.SIGHUP, signal.SIGTERM]


def test_an_ordinary_end_by_sigterm_and_then_a_stop() -> None:
    async def work() -> None:
        ended = asyncio.Event()
        with signals.signals_as_interrupts(), signals.handle_signals(ended.set, once=True):
            send(signal.SIGTERM)
            await asyncio.wait_for(ended.wait(), 60)
            send(signal.SIGTERM)
            await asyncio.sleep(10)

    with pytest.raises(signals.Stopped, match="SIGTERM"):
        asyncio.run(work())


def test_the_process_ends_by_the_signal_once_all_is_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[object] = []

    async def work() -> None:
        ended = asyncio.Event()
        with signals.handle_signals(ended.set, signals.TERMINATION, resend=True):
            send(signal.SIGTERM)
            await asyncio.wait_for(ended.wait(), 60)
            events.append("restored")
            monkeypatch.setattr(os, "kill", lambda pid, number: events.append(number))

    asyncio.run(work())
    assert events == ["restored", signal.SIGTERM]


def test_sigterm_without_a_loop_is_an_interrupt_that_says_so() -> None:
    with pytest.raises(signals.Stopped, match="SIGTERM"), signals.signals_as_interrupts():
        send(signal.SIGTERM)
        threading.Event().wait(10)


def test_sigterm_ends_a_background_job_which_ignores_sigint() -> None:
    async def work() -> None:
        with signals.signals_as_interrupts():
            send(signal.SIGTERM)
            await asyncio.sleep(10)

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(signals.Stopped, match="SIGTERM"), signals.signals_as_interrupts():
            send(signal.SIGTERM)
            threading.Event().wait(10)
        with pytest.raises(signals.Stopped, match="SIGTERM"):
            asyncio.run(work())
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_verb_that_ends_as_usual_by_a_signal_is_noticed_outside() -> None:
    async def work() -> None:
        ended = asyncio.Event()
        with signals.handle_signals(ended.set, once=True):
            send(signal.SIGTERM)
            await asyncio.wait_for(ended.wait(), 60)

    with signals.signals_as_interrupts() as arrived, signals.signals_as_interrupts() as inner:
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
        with signals.signals_as_interrupts():
            send(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_other_threads_handle_no_signals() -> None:
    async def work() -> str:
        with signals.handle_signals(lambda: None), signals.signals_as_interrupts():
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
        with signals.handle_signals(lambda: called.append(1), [signal.SIGINT]):
            send(signal.SIGINT)
        await asyncio.sleep(10)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(work())
    assert not called


def test_a_cancellation_that_is_swallowed_ends_the_block() -> None:
    async def work() -> str:
        with contextlib.suppress(asyncio.CancelledError):
            send(signal.SIGINT)
            await asyncio.sleep(10)
        signals.raise_if_cancelled()
        return "done"

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(work())


def test_interrupts_are_kept_but_in_an_inner_block() -> None:
    held: list[int] = []
    with signals.interrupt_handler(lambda number, frame: held.append(number)) as handler:
        send(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt), signals.interrupt_handler(handler):
            send(signal.SIGINT)
        send(signal.SIGINT)
    assert held == [signal.SIGINT] * 2


def test_an_interrupt_just_before_a_call_that_blocks() -> None:
    """asyncio takes it, and cancels the task; the call would wait for ever."""

    async def read() -> None:
        signal.raise_signal(signal.SIGINT)
        with signals.interrupt_handler():
            pytest.fail("it would block")

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(read())
