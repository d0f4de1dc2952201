"""Coroutines with and without an event loop.

A verb that sends one request after the other needs none, and starts in half the time: importing asyncio takes
as long as importing click. `run` steps a coroutine until it waits for `await_event_loop()`, and continues it
in a loop. What needs asyncio imports it: at the top of a module, and a verb that imports the module starts in
a loop; or in a function, after it has waited for the loop.
"""

import contextvars
import sys
import time
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Generator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future


T = TypeVar("T")

THREAD_WAIT = 0.3  #: seconds between two looks at another thread

_stepped = contextvars.ContextVar("stepped", default=False)
_beginning = contextvars.ContextVar("beginning", default=False)
_limit = contextvars.ContextVar("limit", default=float("inf"))


def is_stepped() -> bool:
    """Return whether the running coroutine has no event loop."""
    return _stepped.get()


@types.coroutine
def await_event_loop() -> Generator[None, None, None]:
    """Wait for an event loop, for work that needs asyncio; return at once if there is one."""
    while _stepped.get():  # again, when `start` stepped it
        yield


def is_asyncio_imported() -> bool:
    """Return whether something has imported asyncio, which will need an event loop."""
    return "asyncio" in sys.modules


def run_as_needed(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine, in an event loop as soon as it needs one. Raises what it raises."""
    return run_in_loop(work) if is_asyncio_imported() else run(work)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine, without an event loop until it asks for one, and return its result. Raises what it
    raises.
    """
    return contextvars.copy_context().run(_run, work)


def _run(work: Coroutine[Any, Any, T]) -> T:
    token = _stepped.set(True)
    try:
        work.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        _stepped.reset(token)
    return run_in_loop(_await_rest(work))


async def _await_rest(work: Coroutine[Any, Any, T]) -> T:
    return await _continue(work)


@types.coroutine
def _continue(work: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
    result: T = yield from work
    return result


def run_in_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in an event loop and return its result. Raises what it raises; of tasks that failed at
    once, what the first one raised.

    When a loop is already running, as in a notebook, the coroutine runs in a thread, and the caller's loop is
    blocked until it ends.
    """
    import asyncio

    token = _stepped.set(False)
    try:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(work)
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1, "jsctl") as thread:
            return wait_for_thread(thread.submit(contextvars.copy_context().run, asyncio.run, work))
    except ExceptionGroup as failures:
        raise _find_first(failures) from None
    finally:
        _stepped.reset(token)


def wait_for_thread(future: "Future[T]") -> T:
    """Return what a thread's work returns; raise what it raises, or KeyboardInterrupt.

    The wait has ends, after which Python handles signals: one that comes just before a wait without an end
    would wake nobody.
    """
    from concurrent.futures import wait

    while not future.done():
        wait([future], THREAD_WAIT)
    return future.result()


def _find_first(error: Exception) -> Exception:
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


class Begun(Generic[T]):
    """The counterpart of a task without an event loop: work that has sent its first request and continues
    when it is awaited.
    """

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work
        self._outcome: tuple[Any, Exception | None] | None = None
        token = _beginning.set(True)
        try:
            work.send(None)
        except StopIteration as end:
            self._outcome = end.value, None
        except Exception as error:
            self._outcome = None, error
        finally:
            _beginning.reset(token)

    def __await__(self) -> Generator[Any, Any, T]:
        if self._outcome is None:
            return (yield from self._work.__await__())
        result, error = self._outcome
        if error:
            raise error
        return result  # type: ignore[no-any-return]

    def cancel(self) -> None:
        self._work.close()


@types.coroutine
def mark_request_sent() -> Generator[None, None, None]:
    """Mark that a request was sent whose answer is not awaited yet. Without an event loop, work that was only
    started (see `start`) stops here.
    """
    if _beginning.get():
        _beginning.set(False)
        yield


async def gather(*work: Awaitable[T]) -> list[T]:
    """Return the results of work that is done at once, in an event loop if there is more than one. Raises the
    first error."""
    if len(work) == 1:
        return [await work[0]]
    await await_event_loop()
    import asyncio

    return list(await asyncio.gather(*work))


async def sleep(seconds: float) -> None:
    """Sleep for some seconds, in an event loop."""
    await await_event_loop()
    import asyncio

    await asyncio.sleep(seconds)


def start(work: Coroutine[Any, Any, T]) -> "asyncio.Task[T] | Begun[T]":
    """Start work that is awaited later."""
    if is_stepped():
        return Begun(work)
    from asyncio import ensure_future

    return ensure_future(work)


def call_later(seconds: float, work: Callable[..., object], *arguments: object) -> "asyncio.TimerHandle":
    """Call a function later. Returns what can be cancelled."""
    from asyncio import get_running_loop

    return get_running_loop().call_later(seconds, work, *arguments)


async def cancel_all(started: Collection["asyncio.Task[T] | Begun[T]"]) -> None:
    """Cancel all started work, and wait until it has ended."""
    for work in started:
        work.cancel()
    if tasks := [work for work in started if not isinstance(work, Begun)]:
        from asyncio import gather

        await gather(*tasks, return_exceptions=True)


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
        _limit.set(
            enclosing_limit
        )  # reset() would fail if an event loop, and with it another context, began meanwhile


def limit_deadline(deadline: float) -> float:
    """Return a deadline on time.monotonic, or that of the enclosing time limits if it is earlier.

    For code that waits without an event loop, and raises TimeoutError at the deadline.
    """
    return min(deadline, _limit.get())
