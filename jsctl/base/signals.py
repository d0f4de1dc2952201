"""Ctrl-C, SIGTERM and SIGHUP as the end of work: as its ordinary end, or with time to clean up.

All signals that jsctl handles are handled here. Only the main thread can handle them; elsewhere these
functions do nothing.
"""

import contextlib
import functools
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from jsctl.base.posix import HANGUP
from jsctl.errors import Cancelled, ExitStatus

if TYPE_CHECKING:
    import asyncio


T = TypeVar("T")


class Stopped(Cancelled):
    """A signal ended the work."""

    status = ExitStatus.INTERRUPTED


class _Handler(NamedTuple):
    call: Callable[[int], object]
    owner: object


_installed: dict[int, list[_Handler]] = {}
"""The handlers of each signal; the last one is called."""

_previous: dict[int, Any] = {}
"""The handlers that these signals had before."""

_pending: Counter[int] = Counter()
"""How many signals of each number have arrived and wait for the event loop."""

_observers: list[list[int]] = []
"""Lists that receive the number of each signal that an event loop handles."""


@contextlib.contextmanager
def handled(handlers: Mapping[int, Callable[[int], object]]) -> Iterator[Callable[[], None]]:
    """Call a handler with the number of its signal, in the event loop; handlers of an inner block come before
    those of an outer one. The former handlers are restored at the end.

    Yields a function that restores them earlier.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    owner = object()
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return

    def restore() -> None:
        for number, stack in list(_installed.items()):
            remaining = [handler for handler in stack if handler.owner is not owner]
            if len(remaining) < len(stack):
                _install(loop, number, remaining)

    for number, handler in handlers.items():
        if not _stays_ignored(number):
            _install(loop, number, [*_installed.get(number, []), _Handler(handler, owner)])
    try:
        yield restore
    finally:
        restore()


def _stays_ignored(number: int) -> bool:
    """Return whether this is SIGHUP and the process was started to ignore it, as by nohup."""
    return number in HANGUP and signal.getsignal(number) is signal.SIG_IGN


def _install(loop: "asyncio.AbstractEventLoop", number: int, stack: list[_Handler]) -> None:
    if number not in _installed:
        _previous[number] = signal.getsignal(number)
    if stack:
        _installed[number] = stack
        signal.signal(number, functools.partial(_receive, loop))
        return
    del _installed[number]
    previous = _previous.pop(number)
    signal.signal(number, signal.SIG_DFL if previous is None else previous)  # None: not installed by Python
    if _pending.pop(number, 0):
        signal.raise_signal(number)


# loop.add_signal_handler would lose signals that arrive while a handler is removed.


def _receive(loop: "asyncio.AbstractEventLoop", number: int, frame: object) -> None:
    for arrived in _observers:
        arrived.append(number)
    _pending[number] += 1
    loop.call_soon_threadsafe(_dispatch, number)


def _dispatch(number: int) -> None:
    if _pending[number]:  # 0 when the previous handler received it
        _pending[number] -= 1
        _installed[number][-1].call(number)


@contextlib.contextmanager
def interrupts(end: Callable[[], object]) -> Iterator[list[int]]:
    """Call `end` on the first SIGINT or SIGTERM; a second one ends the process as usual.

    Yields the list of signals that arrived.
    """
    arrived: list[int] = []

    def handle_first(number: int) -> None:
        arrived.append(number)
        restore()
        end()

    with handled(dict.fromkeys((signal.SIGINT, signal.SIGTERM), handle_first)) as restore:
        yield arrived


@contextlib.asynccontextmanager
async def unlost_cancellation() -> AsyncIterator[None]:
    """End the block as cancelled when the task was cancelled, even if the awaited call swallowed the
    cancellation or ended at that moment.
    """
    yield
    _raise_if_cancelled()


@contextlib.asynccontextmanager
async def stoppable() -> AsyncIterator[list[signal.Signals]]:
    """Cancel the task on the first SIGINT, SIGTERM or SIGHUP, and let it clean up.

    The block then ends with Stopped, whatever the clean-up raises. Yields the list of signals that arrived.
    """
    from jsctl.base.loops import await_event_loop

    await await_event_loop()
    import asyncio

    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("stoppable() needs a task")
    arrived: list[signal.Signals] = []

    def stop(number: int) -> None:
        if not arrived:
            task.cancel()
        arrived.append(signal.Signals(number))

    with handled(dict.fromkeys((signal.SIGINT, signal.SIGTERM, *HANGUP), stop)):
        try:
            yield arrived
        except (asyncio.CancelledError, Exception):
            if not arrived:
                raise
            task.uncancel()
            raise Stopped(f"stopped by {arrived[0].name}") from None


@contextlib.contextmanager
def graceful_stop(graceful: bool = True) -> Iterator["asyncio.Event"]:
    """Treat SIGTERM as ctrl-C. With `graceful` the first of either only sets the event; the next one
    interrupts the task as usual.
    """
    import asyncio

    stop = asyncio.Event()

    def handle(number: int) -> None:
        if graceful and not stop.is_set():
            stop.set()
        else:
            restore_sigint()
            _interrupt()

    with (
        handled({signal.SIGTERM: handle}),
        handled({signal.SIGINT: handle} if graceful else {}) as restore_sigint,
    ):
        yield stop


@contextlib.contextmanager
def restoring_first(end: Callable[[], object]) -> Iterator[None]:
    """Call `end` on SIGTERM and SIGHUP, so that the block can clean up. When it has ended, the process
    ends as the signal would have ended it.
    """
    arrived: list[int] = []

    def stop(number: int) -> None:
        arrived.append(number)
        end()

    try:
        with handled(dict.fromkeys((signal.SIGTERM, *HANGUP), stop)):
            yield
    finally:
        if arrived:
            os.kill(os.getpid(), arrived[0])


class HeldInterrupts:
    """A block in which ctrl-C is kept for the next `run`, which then ends immediately: for a series of
    commands that continues when one of them is interrupted.
    """

    def __init__(self) -> None:
        self._is_active = threading.current_thread() is threading.main_thread()
        self._before = signal.getsignal(signal.SIGINT)
        self._arrived = False

    def __enter__(self) -> Self:
        self._hold()
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_active:
            signal.signal(signal.SIGINT, self._before)

    def run(self, work: Callable[[], T]) -> T:
        """Run a function that ctrl-C may interrupt. Raises KeyboardInterrupt."""
        try:
            if self._is_active:
                signal.signal(signal.SIGINT, self._before)
            if self._arrived:
                raise KeyboardInterrupt
            return work()
        finally:
            self._hold()

    def forget(self) -> None:
        """Forget the interrupts that have arrived."""
        self._arrived = False

    def _hold(self) -> None:
        if self._is_active:
            signal.signal(signal.SIGINT, self._receive)

    def _receive(self, number: int, frame: object) -> None:
        self._arrived = True


@contextlib.contextmanager
def blocking() -> Iterator[None]:
    """Let ctrl-C raise KeyboardInterrupt immediately during a call that blocks the event loop.

    asyncio would cancel the task, which would notice only when the call ends. Raises CancelledError when the
    task is cancelled already.
    """
    if not callable(signal.getsignal(signal.SIGINT)):
        yield
        return
    with _set_handler(signal.SIGINT, signal.default_int_handler) as is_set:
        if is_set:
            _raise_if_cancelled()
        yield


@contextlib.contextmanager
def left_to_program() -> Iterator[None]:
    """Leave ctrl-C to the program that has the terminal while the block waits for it, such as an editor."""
    # A handler, as a program would inherit that the signal is ignored.
    with _set_handler(signal.SIGINT, lambda number, frame: None):
        yield


def _raise_if_cancelled() -> None:
    from jsctl.base.loops import is_stepped

    asyncio = sys.modules.get("asyncio")  # do not import it for this
    if asyncio is not None and not is_stepped():
        with contextlib.suppress(RuntimeError):  # no event loop runs
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise asyncio.CancelledError


def _interrupt() -> None:
    """Do what ctrl-C does, also where SIGINT is ignored, as in a background job of a shell script."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)


@contextlib.contextmanager
def ending_as_interrupt() -> Iterator[list[int]]:
    """Treat SIGTERM and SIGHUP as ctrl-C. Yields the list of the signals that arrived, also of those that
    ended a verb in the block as its ordinary end.
    """
    arrived: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        arrived.append(number)
        _interrupt()

    _observers.append(arrived)
    try:
        with contextlib.ExitStack() as stack:
            for number in (signal.SIGTERM, *HANGUP):
                if not _stays_ignored(number):
                    stack.enter_context(_set_handler(number, interrupt))
            yield arrived
    finally:
        _observers[:] = [observer for observer in _observers if observer is not arrived]


@contextlib.contextmanager
def _set_handler(number: int, handler: Callable[[int, Any], object]) -> Iterator[bool]:
    """Let Python call a handler of a signal; yield whether this is the main thread, which alone has them."""
    if threading.current_thread() is not threading.main_thread():
        yield False
        return
    previous = signal.signal(number, handler)
    try:
        yield True
    finally:
        signal.signal(number, previous)
