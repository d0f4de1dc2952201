"""Coroutines with and without an event loop.

A verb begins in an event loop if what it imports has imported asyncio. Otherwise it begins without one, which
saves 20 of the 90 ms that `stream info` would take; at its first `await enter_event_loop()` it continues in a
loop to its end, and its connections move with it (`follow_into_loop`). To choose between two drivers at the
start instead would cost these 20 ms wherever a verb needs a loop only at times, such as to ask a question.

Without a loop, `run` steps the coroutine: what waits for a server blocks, and the coroutine yields only where
it needs a loop, or has sent a request, so that others can be sent before the answer is awaited (`start`).
What needs asyncio imports it at the top of a module, and a verb that imports this module begins in a loop; or
else in a function, after it has entered the loop.
"""

import contextvars
import sys
import time
import types
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
)
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import asyncio
    import threading
    from concurrent.futures import Future


T = TypeVar("T")
_Move = Callable[[], Awaitable[None]]

THREAD_WAIT = 0.3  #: seconds between two looks at another thread

_REQUEST_SENT, _LOOP_NEEDED = "request sent", "loop needed"
"""What a coroutine yields without an event loop."""

_moves = contextvars.ContextVar[list[_Move] | None]("moves", default=None)
"""What follows the running coroutine into an event loop; None in one."""

_limit = contextvars.ContextVar("limit", default=float("inf"))


def is_stepped() -> bool:
    """Return whether the running coroutine has no event loop."""
    return _moves.get() is not None


def is_asyncio_imported() -> bool:
    """Return whether something has imported asyncio."""
    return "asyncio" in sys.modules


def run_verb(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine, in an event loop from the beginning if what it imports has imported asyncio."""
    return run_in_loop(work) if is_asyncio_imported() else run(work)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine, without an event loop until it enters one, and return its result. Raises what it
    raises.
    """
    return contextvars.copy_context().run(_step, work)


def _step(work: Coroutine[Any, Any, T]) -> T:
    _moves.set([])
    try:
        while work.send(None) == _REQUEST_SENT:
            pass
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    return run_in_loop(work)


def run_in_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in an event loop and return its result. Raises what it raises; of tasks that failed at
    once, what the first one raised.

    When a loop is already running, as in a notebook, the coroutine runs in a thread, and the caller's loop is
    blocked until it ends.
    """
    import asyncio

    token = _moves.set(None)
    try:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            with _keeping_interrupt_handler():
                return asyncio.run(work)
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1, "jsctl") as thread:
            return wait_for_thread(thread.submit(contextvars.copy_context().run, asyncio.run, work))
    except ExceptionGroup as failures:
        raise _find_first(failures) from None
    finally:
        _moves.reset(token)


@contextmanager
def _keeping_interrupt_handler() -> Iterator[None]:
    """Restore the handler of SIGINT after the block.

    asyncio restores it before it ends background tasks and asynchronous generators; a block in them that
    handled signals then puts back that of the loop, which would raise KeyboardInterrupt in later loops.
    """
    import signal
    import threading

    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread() and handler is not None:
            signal.signal(signal.SIGINT, handler)


def wait_for_thread(future: "Future[T]") -> T:
    """Return what a thread's work returns; raise what it raises, or KeyboardInterrupt.

    The wait has ends, after which Python handles signals: one that comes just before a wait without an end
    would wake nobody.
    """
    from concurrent.futures import wait

    while not future.done():
        wait([future], THREAD_WAIT)
    return future.result()


async def run_in_thread(
    work: Callable[..., T], *arguments: Any, advance: Callable[[int], object] | None = None
) -> T:
    """Run work that waits for the disk in a thread, and return its result. A cancellation waits until the
    work has ended: a file must not be closed while it is used.

    advance: for work that takes long, and calls it now and then. It gets it as its last argument, in a form
    that ends the work once this is cancelled.
    """
    if is_stepped():  # ctrl-C raises KeyboardInterrupt in it
        return work(*arguments, *[advance] * (advance is not None))
    import asyncio

    cancelled: asyncio.CancelledError | None = None

    def advance_or_end(count: int) -> None:
        if cancelled is not None:
            raise asyncio.CancelledError
        if advance is not None:
            advance(count)

    if advance is not None:
        arguments = (*arguments, advance_or_end)
    task = asyncio.ensure_future(asyncio.to_thread(work, *arguments))
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return task.result()
    if not task.cancelled():
        task.exception()  # otherwise asyncio would log that it was never retrieved
    raise cancelled


async def run_abandonable(work: Callable[..., T], *arguments: Any) -> T:
    """Run work that waits for somebody else's answer in a thread, and return its result. Once this is
    cancelled, nobody waits for the work, nor does the end of the process."""
    await enter_event_loop()
    outcome, _ = start_thread(partial(work, *arguments))
    return await outcome


def start_thread(work: Callable[[], T]) -> "tuple[asyncio.Future[T], threading.Thread]":
    """Run work in a thread, for which the end of the process does not wait; return its outcome, a future of
    the running event loop, and the thread."""
    import asyncio
    import threading

    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def settle(set_outcome: Callable[[Any], None], value: object) -> None:
        if not outcome.done():
            set_outcome(value)

    def run() -> None:
        try:
            done: tuple[Callable[[Any], None], object] = outcome.set_result, work()
        except BaseException as error:
            done = outcome.set_exception, error
        with suppress(RuntimeError):  # the loop is closed already
            loop.call_soon_threadsafe(settle, *done)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True)
    thread.start()
    return outcome, thread


def _find_first(error: Exception) -> Exception:
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


# -- entering a loop --------------------------------------------------------------------------------------


async def enter_event_loop() -> None:
    """Enter an event loop, and continue in it; return at once in one. Raises what a move raises."""
    moves = _moves.get()
    while is_stepped():  # again, when `start` stepped it
        await _give_way(_LOOP_NEEDED)
    while moves:
        await moves.pop(0)()


def follow_into_loop(move: _Move) -> None:
    """Follow the running coroutine into an event loop: call a function once it has entered one."""
    if (moves := _moves.get()) is not None:
        moves.append(move)


@types.coroutine
def _give_way(reason: str) -> Generator[str, None, None]:
    yield reason


# -- work that is started before it is awaited ------------------------------------------------------------


class StartedWork(Generic[T]):
    """The counterpart of a task without an event loop: work that has sent its first request, and goes on when
    it is awaited."""

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work
        self._outcome: tuple[Any, Exception | None] | None = None
        try:
            work.send(None)
        except StopIteration as end:
            self._outcome = end.value, None
        except Exception as error:
            self._outcome = None, error

    def __await__(self) -> Generator[Any, Any, T]:
        if self._outcome is None:
            return (yield from self._work.__await__())
        result, error = self._outcome
        if error:
            raise error
        return result  # type: ignore[no-any-return]

    def cancel(self) -> None:
        self._work.close()


async def mark_request_sent() -> None:
    """Mark that a request was sent, whose answer is waited for next: work that was started stops here."""
    if is_stepped():
        await _give_way(_REQUEST_SENT)


def start(work: Coroutine[Any, Any, T]) -> "asyncio.Task[T] | StartedWork[T]":
    """Start work that is awaited later."""
    if is_stepped():
        return StartedWork(work)
    from asyncio import ensure_future

    return ensure_future(work)


async def cancel_all(started: Collection["asyncio.Task[T] | StartedWork[T]"]) -> None:
    """Cancel all started work, and wait until it has ended."""
    for work in started:
        work.cancel()
    if tasks := [work for work in started if not isinstance(work, StartedWork)]:
        import asyncio

        await asyncio.gather(*tasks, return_exceptions=True)


# -- what asyncio has, without a loop ---------------------------------------------------------------------


async def gather(works: Iterable[Awaitable[T]]) -> list[T]:
    """Return the results of works that are done at once, in an event loop if there are two or more.

    When one fails or this is cancelled, the others are cancelled, and have ended when this raises.
    `asyncio.gather` would leave them running.
    """
    works = list(works)
    if len(works) < 2:
        return [await work for work in works]
    await enter_event_loop()
    import asyncio

    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        await cancel_all(tasks)
        raise


async def sleep(seconds: float) -> None:
    """Sleep for some seconds."""
    if is_stepped():
        time.sleep(seconds)  # noqa: ASYNC251  (nothing else runs)
    else:
        import asyncio

        await asyncio.sleep(seconds)


def call_later(seconds: float, work: Callable[..., object], *arguments: object) -> "asyncio.TimerHandle":
    """Call a function later, in an event loop. Returns what can be cancelled."""
    from asyncio import get_running_loop

    return get_running_loop().call_later(seconds, work, *arguments)


@asynccontextmanager
async def time_limit(seconds: float) -> AsyncIterator[None]:
    """Raise TimeoutError when the block takes longer, with and without an event loop."""
    if not is_stepped():
        from asyncio import timeout

        async with timeout(seconds):
            yield
        return
    enclosing_limit = _limit.get()
    _limit.set(min(time.monotonic() + seconds, enclosing_limit))
    try:
        yield
    finally:
        # reset() would fail if an event loop, and with it another context, began meanwhile
        _limit.set(enclosing_limit)


def limit_deadline(deadline: float) -> float:
    """Return a deadline (seconds of time.monotonic), or that of the enclosing time limits if it is earlier.

    For code that waits without an event loop, and raises TimeoutError at the deadline.
    """
    return min(deadline, _limit.get())
