"""The thread that an engine works in: a signal in the middle of a call to the JVM would break the connection
to it.

The main thread, which gets the signals, hands over one piece of work after the other (`run`), and waits for
each. Ctrl-C sets `stop`, and then ends what the engine runs, again and again until the work has ended; work
looks at `stop` where it may end by itself. A second ctrl-C ends the JVM. What work opens (`enter`) is closed
in the thread, after all work, when the `with` block of the main thread ends, and so does the thread. It ends
nowhere else.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import Self, TypeVar

from jsctl.base.loops import THREAD_WAIT, wait_for_thread
from jsctl.spark.export.engines import Engine, EngineStart
from jsctl.spark.session import jvm

T = TypeVar("T")


@dataclass(slots=True)
class EngineThread:
    """The thread, as a context. stop: whether ctrl-C came. engine: None until it has started."""

    stop: threading.Event = field(init=False, default_factory=threading.Event)
    engine: Engine | None = field(init=False, default=None)
    _executor: ThreadPoolExecutor = field(init=False, default_factory=lambda: ThreadPoolExecutor(1, "spark"))
    _stack: ExitStack = field(init=False, default_factory=ExitStack)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        closing = self._executor.submit(self._stack.close)
        try:
            wait_for_thread(closing)
        except KeyboardInterrupt:
            self._end(closing)
            raise
        except Exception:
            if kind is None:
                raise
        finally:
            self._executor.shutdown()

    # -- called by the main thread --

    def begin(self, work: Callable[[], object]) -> None:
        """Begin work that nobody waits for, but the next work."""
        self._executor.submit(work)

    def run(self, work: Callable[[], T]) -> T:
        """Return what the work returns. Raises what it raises, or KeyboardInterrupt once ctrl-C has ended
        it."""
        future = self._executor.submit(work)
        try:
            return wait_for_thread(future)
        except KeyboardInterrupt:
            self.stop.set()
            self._end(future)
            try:
                return future.result()  # it may have been done already
            except Exception:
                raise KeyboardInterrupt from None

    def _end(self, future: "Future[T]") -> None:
        deadline = time.monotonic() + jvm.GRACE
        while not future.done():
            try:
                if time.monotonic() >= deadline:
                    jvm.kill()
                if self.engine is None:
                    jvm.abort()
                else:
                    self.engine.cancel()
                wait([future], THREAD_WAIT)
            except KeyboardInterrupt:
                deadline = time.monotonic()

    # -- called by the work --

    def open(self, start: EngineStart, *, fast_start: bool) -> Engine:
        """Return the engine, which is started if it is not yet. fast_start: for short work."""
        if self.engine is None:
            self.engine = self.enter(start.open(fast_start=fast_start))
        return self.engine

    def enter(self, context: AbstractContextManager[T]) -> T:
        """Enter a context that is left at the end of the thread."""
        return self._stack.enter_context(context)
