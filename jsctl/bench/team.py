"""The clients of one process: their connections, common start and end."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

from jsctl.base.signals import Stopped
from jsctl.base.units import SECOND
from jsctl.bench import fast_ingest, publishers, readers, receivers
from jsctl.bench.client import Client, Gate
from jsctl.bench.meter import Meter, ProcessResult
from jsctl.bench.plan import Plan
from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api
from jsctl.nats.connection import Connection

RUNS: Mapping[str, Callable[[Client], Awaitable[None]]] = {
    "pub": publishers.publish,
    "sub": receivers.subscribe,
    "service request": publishers.request,
    "service serve": receivers.serve,
    "js pub sync": publishers.publish_sync,
    "js pub async": lambda client: publishers.AckWindow(client).run(),
    "js pub batch": publishers.publish_batches,
    "js pub fast": lambda client: fast_ingest.FastIngest(client).run(),
    "js ordered": receivers.consume_ordered,
    "js consume": receivers.consume,
    "js fetch": receivers.fetch,
    "js get sync": readers.get_sync,
    "js get batch": readers.get_batches,
    "kv put": readers.put_values,
    "kv get": readers.get_values,
    "object put": readers.put_objects,
    "object get": readers.get_objects,
}

_TICK = 0.1
"""Seconds between two reports of progress."""

_GRACE = 0.2
"""Seconds that clients have to end by themselves."""


class Team:
    """Some clients of a benchmark in this process.

    on_ready: called when all of them are prepared; `start_clients` then starts them. advance: called with
    each number of messages that were sent or received.
    """

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        numbers: Sequence[int],
        *,
        on_ready: Callable[[], None],
        advance: Callable[[int], None],
    ) -> None:
        self._plan = plan
        self._settings = settings._replace(connection_name=settings.connection_name or "jsctl bench")
        self._numbers = numbers
        self._gate = Gate(len(numbers), on_ready)
        self._advance = advance
        self._clients: list[Client] = []
        self._opening: asyncio.Task[Connection] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._cpu_before = self._cpu = 0
        self._finished = self._reported = 0
        self._is_stopped = False
        self._timer: asyncio.TimerHandle | None = None

    def start_clients(self) -> None:
        """Start the clients."""
        self._gate.open()
        if self._plan.duration:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._plan.duration / SECOND, self.stop)

    def stop(self) -> None:
        """End the clients after their current operation, or at once if they are waiting."""
        self._is_stopped = True
        for client in self._clients:
            client.stopping = True
        asyncio.get_running_loop().call_later(_GRACE, self._cancel)

    def _cancel(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
        for task in self._tasks:
            task.cancel()

    async def run(self) -> tuple[ProcessResult, JsctlError | None]:
        """Return the measurements, and the first error. Raises the error of a failed connection."""
        connections: list[Connection] = []
        failure: JsctlError | None = None
        ticking = asyncio.ensure_future(self._tick())
        try:
            for number in self._numbers:
                connections.append(await self._connect())
                self._clients.append(self._create_client(number, connections[-1]))
            self._tasks = [asyncio.ensure_future(self._work(client)) for client in self._clients]
            if self._is_stopped:
                self.stop()
            waiting = set(self._tasks)
            while waiting:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    error = None if task.cancelled() else task.exception()
                    if isinstance(error, JsctlError):
                        failure = failure or error
                        self.stop()
                    elif error is not None:
                        raise error
        finally:
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)
            if self._timer:
                self._timer.cancel()
            ticking.cancel()
            await asyncio.gather(*(connection.close() for connection in connections), return_exceptions=True)
        self._report()
        notes = list(dict.fromkeys(note for client in self._clients for note in client.notes))
        results = [client.meter.result for client in self._clients]
        return ProcessResult(results, self._cpu, notes), failure

    async def _connect(self) -> Connection:
        """Open a connection. Raises Stopped when the benchmark is stopped meanwhile."""
        opening = asyncio.ensure_future(Connection.open(self._settings, reconnect=False, on_event=_ignore))
        self._opening = opening
        await asyncio.wait([opening])
        if opening.cancelled():
            raise Stopped("stopped before it was connected")
        return opening.result()

    def _create_client(self, number: int, connection: Connection) -> Client:
        settings = self._settings
        api = Api(connection, domain=settings.js_domain, prefix=settings.js_api_prefix)
        return Client(number, self._plan, api, Meter(number, self._plan.warm_up, self._begin), self._gate)

    def _begin(self) -> None:
        self._cpu_before = self._cpu_before or time.process_time_ns()

    async def _work(self, client: Client) -> None:
        try:
            await client.work(RUNS[self._plan.kind])
        finally:
            self._finished += 1
            if self._finished == len(self._clients) and self._cpu_before:
                self._cpu = time.process_time_ns() - self._cpu_before

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK)
            self._report()

    def _report(self) -> None:
        done = sum(client.meter.done for client in self._clients)
        if done > self._reported:
            self._advance(done - self._reported)
            self._reported = done


def _ignore(event: object) -> None:
    """Ignore an event: clients watch their connections themselves, and events before and after do not
    matter."""
