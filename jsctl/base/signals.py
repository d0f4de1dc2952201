"""Ctrl-C (SIGINT), SIGTERM and SIGHUP as the end of work. All signals that jsctl handles are handled here.

There are four ways. While its block runs,

- `handle_signals` calls a function in the event loop, such as one that ends the work in order;
- `stoppable` cancels the task, which cleans up undisturbed, and the block ends with Stopped;
- `signals_as_interrupts` lets SIGTERM and SIGHUP do what ctrl-C does;
- `interrupt_handler` takes ctrl-C away from the event loop, for a call that blocks it.

The innermost block gets a signal. Only the main thread can handle signals; in others the blocks do nothing. A
SIGHUP that nohup had the process ignore stays ignored.
"""

import contextlib
import functools
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jsctl.base.posix import HANGUP
from jsctl.errors import Cancelled, ExitStatus

if TYPE_CHECKING:
    import asyncio

TERMINATION = (signal.SIGTERM, *HANGUP)
"""The signals that end a process from outside."""


class Stopped(Cancelled):
    """A signal ended the work. number: the signal's, which chooses the exit status."""

    def __init__(self, message: str, hint: str = "", *, number: int = signal.SIGINT) -> None:
        super().__init__(message, hint)
        self.number = number
        self.status = ExitStatus.TERMINATED if number == signal.SIGTERM else ExitStatus.INTERRUPTED


_handlers: dict[int, list[Callable[[int], object]]] = {}
"""What `handle_signals` calls for each signal; the last one is called."""

_previous: dict[int, Any] = {}
"""The handlers that these signals had before."""

_pending: Counter[int] = Counter()
"""How many signals of each number have arrived and wait for the event loop."""

_observers: list[list[int]] = []
"""Lists that receive the number of each signal that an event loop handles."""


@contextlib.contextmanager
def handle_signals(
    handler: Callable[[], object],
    numbers: Sequence[int] = (signal.SIGINT, signal.SIGTERM),
    *,
    once: bool = False,
    resend: bool = False,
) -> Iterator[list[int]]:
    """Call a function in the event loop for each of these signals. Yields the list of those that arrived.

    once: only for the first one; the next one does what it would do without the block. resend: send the first
    one to this process again when the block has ended.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    arrived: list[int] = []

    def receive(number: int) -> None:
        arrived.append(number)
        if once:
            remove()
        handler()

    def remove() -> None:
        for number, handlers in list(_handlers.items()):
            if receive in handlers:
                _install(loop, number, [other for other in handlers if other is not receive])

    for number in numbers:
        if _can_handle(number):
            _install(loop, number, [*_handlers.get(number, []), receive])
    try:
        yield arrived
    finally:
        remove()
        if resend and arrived:
            os.kill(os.getpid(), arrived[0])


def suspend() -> None:
    """Stop this process and its group, as ctrl-Z does, until the shell continues them; nothing without a
    shell that could, or on Windows."""
    if hasattr(signal, "SIGTSTP"):
        previous = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        try:
            os.kill(0, signal.SIGTSTP)
        finally:
            signal.signal(signal.SIGTSTP, previous)


def _can_handle(number: int) -> bool:
    """Return whether this thread handles signals, and nohup has not had the process ignore this one."""
    is_ignored = number in HANGUP and signal.getsignal(number) is signal.SIG_IGN
    return threading.current_thread() is threading.main_thread() and not is_ignored


def _install(loop: "asyncio.AbstractEventLoop", number: int, handlers: list[Callable[[int], object]]) -> None:
    # loop.add_signal_handler would lose signals that arrive while a handler is removed.
    if number not in _handlers:
        _previous[number] = signal.getsignal(number)
    if handlers:
        _handlers[number] = handlers
        signal.signal(number, functools.partial(_receive, loop))
        return
    del _handlers[number]
    previous = _previous.pop(number)
    signal.signal(number, signal.SIG_DFL if previous is None else previous)  # None: not installed by Python
    if _pending.pop(number, 0):
        signal.raise_signal(number)


@contextlib.contextmanager
def note_signals() -> Iterator[list[int]]:
    """Yield the numbers of the signals that an event loop handles meanwhile."""
    arrived: list[int] = []
    _observers.append(arrived)
    try:
        yield arrived
    finally:
        _observers[:] = [observer for observer in _observers if observer is not arrived]


def _receive(loop: "asyncio.AbstractEventLoop", number: int, frame: object) -> None:
    for arrived in _observers:
        arrived.append(number)
    _pending[number] += 1
    loop.call_soon_threadsafe(_dispatch, number)


def _dispatch(number: int) -> None:
    if _pending[number]:  # 0 when the previous handler received it
        _pending[number] -= 1
        _handlers[number][-1](number)


@contextlib.asynccontextmanager
async def stoppable() -> AsyncIterator[Sequence[int]]:
    """Cancel the task on the first SIGINT, SIGTERM or SIGHUP, and let it clean up.

    The block then ends with Stopped, whatever the clean-up raises. Yields the list of signals that arrived.
    """
    import asyncio

    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("stoppable() needs a task")

    def stop() -> None:
        if len(arrived) == 1:
            task.cancel()

    with handle_signals(stop, (signal.SIGINT, *TERMINATION)) as arrived:
        try:
            yield arrived
        except (asyncio.CancelledError, Exception):
            if not arrived:
                raise
            task.uncancel()
            raise _build_stopped(arrived[0]) from None


def _build_stopped(number: int) -> Stopped:
    name = "ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
    return Stopped(f"stopped by {name}", number=number)


@contextlib.contextmanager
def signals_as_interrupts() -> Iterator[Sequence[int]]:
    """Let SIGTERM and SIGHUP do what ctrl-C does; what would end the block as ctrl-C does is Stopped by them.
    Yields the list of those that arrived, including those that ended a verb in the block as its ordinary end.
    """
    with note_signals() as arrived, contextlib.ExitStack() as stack:

        def interrupt(number: int, frame: object) -> None:
            arrived.append(number)
            if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a background job of a shell script
                raise KeyboardInterrupt
            signal.raise_signal(signal.SIGINT)

        for number in filter(_can_handle, TERMINATION):
            stack.enter_context(_replace_handler(number, interrupt))
        try:
            yield arrived
        except BaseException as error:
            asyncio = sys.modules.get("asyncio")  # which makes ctrl-C a CancelledError
            others = [number for number in arrived if number != signal.SIGINT]
            if others and isinstance(error, (KeyboardInterrupt, asyncio.CancelledError if asyncio else ())):
                raise _build_stopped(others[0]) from None
            raise


@contextlib.contextmanager
def interrupt_handler(handler: Any = signal.default_int_handler) -> Iterator[Any]:
    """Let Python call a handler when ctrl-C arrives, by default one that raises KeyboardInterrupt. Yields the
    handler that it replaces.

    asyncio would cancel the task, which would notice only when a call that blocks the event loop ends. Raises
    CancelledError when the task is cancelled already. Where SIGINT is ignored, it stays ignored.
    """
    previous = signal.getsignal(signal.SIGINT)
    if not (callable(previous) and _can_handle(signal.SIGINT)):
        yield previous
        return
    with _replace_handler(signal.SIGINT, handler):
        raise_if_cancelled()
        yield previous


@contextlib.contextmanager
def _replace_handler(number: int, handler: Any) -> Iterator[None]:
    previous = signal.getsignal(number)
    try:  # before the change: a signal may raise an error right after it
        signal.signal(number, handler)
        yield
    finally:
        signal.signal(number, previous)


def raise_if_cancelled() -> None:
    """Raise CancelledError when the running task was cancelled, even if what it awaited swallowed the
    cancellation or ended at that moment."""
    asyncio = sys.modules.get("asyncio")  # do not import it for this
    if asyncio is not None:
        with contextlib.suppress(RuntimeError):  # no event loop runs
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise asyncio.CancelledError
