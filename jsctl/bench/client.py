"""One client of a benchmark: its connection, its share of the work, its pace and its end."""

import asyncio
import random
from collections.abc import Callable

from jsctl.base.units import MS, SECOND
from jsctl.bench.meter import Meter, now
from jsctl.bench.plan import Plan
from jsctl.errors import ApiError, Denied, JsctlError, NoResponders, RequestTimeout, Unreachable
from jsctl.jetstream.api import Api, parse_response
from jsctl.nats.connection import Connection
from jsctl.nats.events import Closed, ConnectionEvent, Disconnected, PermissionDenied
from jsctl.nats.message import Message, is_no_responders

_SPIN_NS = 2 * MS
"""The last part of a wait (ns), which is spent without sleeping, as sleep is not precise."""


_MAX_BLOCK_NS = 5 * MS
"""How long the event loop may be blocked (ns)."""


class Pace:
    """The pace of a client's operations. start: on the clock `now`, once the client starts."""

    def __init__(self, plan: Plan) -> None:
        self.interval = plan.interval
        self.sleep = plan.sleep
        self.start = 0
        self.is_free = not (self.interval or self.sleep)  #: as fast as possible

    async def wait_until_due(self, number: int) -> int:
        """Wait until operation `number`, counted from 0, is due; return that time.

        The time is in the past for a client that is late.
        """
        if self.sleep and number:
            await wait_until(now() + self.sleep)
        if self.interval:
            planned = self.start + int(number * self.interval)
            await wait_until(planned)
            return planned
        return now()

    def count_due(self, number: int, limit: int) -> int:
        """Return how many operations from `number` on are due now, at most `limit`."""
        if self.sleep:
            return 1
        if self.interval:
            return max(1, min(limit, int((now() - self.start) / self.interval) + 1 - number))
        return limit


async def wait_until(planned: int) -> None:
    """Wait for a time on the clock `now`; the last two milliseconds without sleeping."""
    remaining = planned - now()
    if remaining > _SPIN_NS:
        await asyncio.sleep((remaining - _SPIN_NS // 2) / SECOND)
    while now() < planned:  # noqa: ASYNC110 - the clock sends no event
        await asyncio.sleep(0)


class Client:
    """A client of a benchmark, with its API, meter and pace.

    goal: number of messages, warm-up included; 0 for no end. offset: number of its first message. stopping:
    whether it must end before that. ready: the gate at which clients wait for each other. client that
    receives.
    """

    def __init__(self, number: int, plan: Plan, api: Api, meter: Meter, ready: "Gate") -> None:
        self.number = number
        self.plan = plan
        self.api = api
        self.connection: Connection = api.connection
        self.meter = meter
        self.pace = Pace(plan)
        share = plan.share(number)
        self.goal = share + plan.warm_up if share else 0
        self.offset = plan.compute_offset(number)
        self.stopping = False
        self.notes: list[str] = []
        self._ready = ready
        self._random = random.Random(f"{plan.run}.{number}")
        self._lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def timeout(self) -> int:
        """The time to wait for an answer, in ns."""
        return self.api.timeout

    async def start(self, *, measuring: bool = True) -> None:
        """Wait until all clients are prepared, then start.

        measuring: the first operation starts at once; else the caller begins with the first message.
        """
        await self._ready.wait()
        self.pace.start = now()
        if measuring:
            self.meter.begin()

    @property
    def wants_more(self) -> bool:
        """Whether there is more to send or receive."""
        return not self.stopping and (not self.goal or self.meter.done < self.goal)

    def limit_burst(self, limit: int, done: int) -> int:
        """Return how many messages the next burst may have, at most `limit`, after `done` ones.

        A burst does not exceed the goal, and does not cross the end of the warm-up.
        """
        if self.goal:
            limit = min(limit, self.goal - done)
        warm_up = max(self.plan.warm_up - done, 0)
        return min(limit, warm_up) if warm_up else limit

    def choose_random(self, below: int) -> int:
        """Return a random number from 0 up to, but not including, `below`."""
        return self._random.randrange(below)

    # -- errors -----------------------------------------------------------------------------------------

    def watch(self, event: ConnectionEvent) -> bool:
        """Handle a connection event: fail when a connection is lost, as a benchmark over two would measure
        the gap between them."""
        if isinstance(event, (Disconnected, Closed)):
            self.fail(Unreachable(f"lost the connection to {self.connection.url}"))
        elif isinstance(event, PermissionDenied):
            self.fail(event.to_error())
        else:
            self.notes.append(event.text)
        return True

    def fail(self, error: JsctlError) -> None:
        """End the client's work with an error."""
        if not self._lost.done():
            self._lost.set_exception(error)

    async def work(self, run: Callable[["Client"], object]) -> None:
        """Run the client to its end. Raises its error."""
        work = asyncio.ensure_future(run(self))  # type: ignore[call-overload]
        try:
            with self.connection.watching(self.watch):
                await asyncio.wait([work, self._lost], return_when=asyncio.FIRST_COMPLETED)
                if self._lost.done():
                    self._lost.result()
                await work
                self.meter.result.complete = not self.goal or self.meter.done >= self.goal
        finally:
            work.cancel()
            await asyncio.wait([work])
            if not work.cancelled():
                work.exception()
            if not self._lost.cancel() and not self._lost.cancelled():
                self._lost.exception()


class Gate:
    """A gate that opens once all clients are ready and the benchmark can start."""

    def __init__(self, expected: int, on_ready: Callable[[], None]) -> None:
        self._expected = expected
        self._on_ready = on_ready
        self._open = asyncio.Event()

    async def wait(self) -> None:
        """Report that one client is ready, and wait for the start."""
        self._expected -= 1
        if self._expected == 0:
            self._on_ready()
        await self._open.wait()

    def open(self) -> None:
        """Let the waiting clients start."""
        self._open.set()


class Exchange:
    """Requests, one open at a time, all with the same reply subject.

    As an asynchronous context manager: `reply` is the subject, `ask` sends a frame that names it. The only
    client of a process reads its answers directly, and gives the event loop a turn now and then.
    """

    def __init__(self, client: Client) -> None:
        connection = client.connection
        self.reply = connection.new_inbox()
        self._connection = connection
        self._timeout = client.timeout / SECOND
        self._is_alone = client.plan.clients <= max(client.plan.processes, 1)
        self._turn = now()  #: when the event loop last ran
        self._loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[Message] | None = None
        self._receiver = connection.receive(self.reply, self._receive)

    async def __aenter__(self) -> "Exchange":
        await self._receiver.__aenter__()
        await self._connection.flush()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._receiver.__aexit__(None, None, None)

    def _receive(self, message: Message) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(message)

    async def ask(self, frame: bytes, subject: str) -> Message:
        """Return the answer. subject: for errors. Raises RequestTimeout, NoResponders."""
        answer: asyncio.Future[Message] = self._loop.create_future()
        self._answer = answer
        self._connection.post(frame, now=True)
        if self._is_alone:
            await self._read_directly(answer)
        if not answer.done():
            timer = self._loop.call_later(self._timeout, self._time_out, answer, subject)
            try:
                await answer
            finally:
                timer.cancel()
        message = answer.result()
        if not message.data and is_no_responders(message):
            raise NoResponders(f"nobody answers on {subject}")
        return message

    async def _read_directly(self, answer: "asyncio.Future[Message]") -> None:
        while not answer.done() and self._connection.read_now(_MAX_BLOCK_NS / SECOND):
            pass
        if (at := now()) - self._turn > _MAX_BLOCK_NS:
            self._turn = at
            await asyncio.sleep(0)

    def _time_out(self, answer: "asyncio.Future[Message]", subject: str) -> None:
        if not answer.done():
            answer.set_exception(RequestTimeout(f"no answer on {subject} in {self._timeout:g}s"))


def parse_refusal(message: Message, subject: str) -> JsctlError | None:
    """Return the error of a JetStream answer; None for a success."""
    if b'"error"' not in message.data:
        return None
    try:
        parse_response(message.data, subject)
    except (ApiError, Denied, JsctlError) as error:
        return error
    return None
