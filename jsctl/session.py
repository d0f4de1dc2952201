"""A session of several command lines in one process: one event loop, and connections that stay open between
them (`jsctl shell`)."""

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from jsctl.contexts.settings import Settings
    from jsctl.nats.connection import Connection
    from jsctl.nats.events import ConnectionEvent

T = TypeVar("T")

_THREAD_TIMEOUT = 0.15  #: seconds that another thread waits for its result


class Session:
    """The event loop and the connections of all command lines.

    say: writes a line for people. is_busy: whether a command runs; connection events are reported only then,
    not at the prompt.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._runner = asyncio.Runner()
        self._connections: dict[Settings, Connection] = {}
        self._reporters: list[Callable[[], None]] = []
        self.is_busy = False

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the session's loop; from another thread, wait for it. Raises TimeoutError."""
        loop = self._runner.get_loop()
        if threading.current_thread() is threading.main_thread():
            return self._runner.run(work)
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result(_THREAD_TIMEOUT)
        except concurrent.futures.TimeoutError:
            future.cancel()
            raise TimeoutError from None

    async def connection(self, settings: "Settings") -> "Connection":
        """Return the connection with these settings; open it if there is none."""
        from jsctl.nats.connection import Connection
        from jsctl.nats.outage import ConnectionReporter

        key = settings._replace(timeout=0, colors="", js_domain="", js_api_prefix="", js_event_prefix="")
        connection = self._connections.pop(key, None)
        if (
            connection is not None and not connection.is_connected
        ):  # a new attempt shows immediately what is wrong
            await connection.close()
            connection = None
        if connection is None:
            reporter = ConnectionReporter(self._say)

            def report(event: "ConnectionEvent") -> None:
                if self.is_busy:
                    reporter(event)

            self._reporters.append(reporter.stop)
            connection = await Connection.open(settings, on_event=report)
        connection.settings = settings
        self._connections[key] = connection
        return connection

    def end_command(self) -> None:
        """Report no further connection events until the next command."""
        self.is_busy = False
        for stop in self._reporters:
            stop()

    def close(self) -> None:
        """Close all connections and the loop."""

        async def close() -> None:
            for connection in self._connections.values():
                with contextlib.suppress(Exception):
                    await connection.close()

        with contextlib.suppress(KeyboardInterrupt):
            self._runner.run(close())
        self._runner.close()
