"""Several contexts and domains, polled repeatedly, each independently of the others.

There is one connection for each context; a lost one is opened again. The caller says what is fetched.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from jsctl.base.loops import gather
from jsctl.contexts.model import strip_login
from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError, RequestTimeout, Unreachable
from jsctl.jetstream.api import Api, Json, build_api_prefix
from jsctl.jetstream.identity import find_first_places
from jsctl.monitor.report.advisories import AdvisoryLog, is_of_servers
from jsctl.nats.connection import Connection
from jsctl.nats.events import Closed, ConnectionEvent, Disconnected, PermissionDenied

T = TypeVar("T")
Fetch = Callable[[Api], Awaitable[T]]
Trace = Callable[[str, str], None]
Clock = Callable[[], float]
"""Return seconds since 1970."""

SETTLE = 0.05
"""Answers that arrive within this many seconds of each other count as one."""


class Link:
    """The connection of one context: opened when it is first needed, and again when it was lost.

    Connection's own reconnecting is off: it hides why a server cannot be reached, and requests sent
    meanwhile wait for their timeout. log: receives advisories while it is open.
    """

    def __init__(self, settings: Settings, log: AdvisoryLog | None = None) -> None:
        self._settings = settings
        self.log = log
        self._connection: Connection | None = None
        self._opening: asyncio.Task[Connection] | None = None
        self._lost = asyncio.Event()

    async def fetch(self, fetch: Fetch[T], settings: Settings, trace: Trace | None = None) -> tuple[T, str]:
        """Return the answer, and the domain of the connected server.

        settings: contain the domain or API prefix. Raises JsctlError, immediately when the connection is
        lost.
        """
        connection = await self._get_connection()
        api = Api(connection, domain=settings.js_domain, prefix=settings.js_api_prefix, trace=trace)
        work = asyncio.ensure_future(fetch(api))
        lost = asyncio.ensure_future(self._lost.wait())
        try:
            await asyncio.wait({work, lost}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise Unreachable(f"lost the connection to {connection.url}")
            return work.result(), str(connection.server_info.get("domain", ""))
        except RequestTimeout:
            await self._check_alive(connection)
            raise
        finally:
            work.cancel()
            lost.cancel()

    async def close(self) -> None:
        """Close the connection, or cancel its opening."""
        if self._opening is not None:
            self._opening.cancel()
        await self._drop(self._connection)

    async def _get_connection(self) -> Connection:
        if self._connection is not None and not self._connection.is_connected:
            await self._drop(self._connection)
        if self._connection is None:
            # Domains of a context that connect at the same time share one attempt, and its failure.
            if self._opening is None:
                self._opening = asyncio.ensure_future(self._open())
                self._opening.add_done_callback(_retrieve)
            self._connection = await asyncio.shield(self._opening)
        return self._connection

    async def _open(self) -> Connection:
        self._lost = lost = asyncio.Event()

        def watch(event: ConnectionEvent) -> None:
            if isinstance(event, (Disconnected, Closed)):
                lost.set()
            if isinstance(event, PermissionDenied) and self.log and event.subject == self.log.subjects[0]:
                self.log.is_denied = True

        try:
            connection = await Connection.open(self._settings, on_event=watch, reconnect=False)
            if self.log is not None:
                self.log.is_denied = False
                self.log.note_server(str(connection.server_info.get("version") or ""))
                for subject in self.log.subjects:
                    await connection.listen(subject, self.log.add)
            return connection
        finally:
            self._opening = None

    async def _check_alive(self, connection: Connection) -> None:
        # A server that was cut off silently looks connected for minutes, so send a ping.
        try:
            await connection.measure_rtt()
        except Unreachable:
            await self._drop(connection)

    async def _drop(self, connection: Connection | None) -> None:
        if connection is None or connection is not self._connection:
            return
        self._connection = None
        self._lost.set()
        await connection.close()


def _retrieve(opening: asyncio.Task[Connection]) -> None:
    # When it fails just as those who wait for it are cancelled, nobody else does: asyncio would report it.
    if not opening.cancelled():
        opening.exception()


class Answer(NamedTuple, Generic[T]):
    """An answer. at: seconds on a monotonic clock. data: its content."""

    at: float
    data: T


class Poller(Generic[T]):
    """One context and domain, and its last answer.

    history: the last answer, as long as nobody took it. failure: why the last attempt failed, None when it
    succeeded. at: when the last attempt ended, in seconds since 1970, None before the first.
    """

    def __init__(
        self,
        link: Link,
        settings: Settings,
        fetch: Fetch[T],
        clock: Callable[[], float] = time.time,
        trace: Trace | None = None,
    ) -> None:
        self.link = link
        self._fetch = fetch
        self._clock = clock
        self._trace = trace
        self._since: float | None = None
        self._server_domain = ""
        self.settings = settings
        self.history: deque[Answer[T]] = deque(maxlen=1)
        self.failure: JsctlError | None = None
        self.at: float | None = None

    @property
    def context(self) -> str:
        """The context's name; without one, or with a server given beside it, the server's address."""
        return self.settings.context or self.where

    @property
    def domain(self) -> str:
        """The requested domain; without one, that of the connected server once it is known."""
        if self.settings.js_api_prefix:
            return ""
        return self.settings.js_domain or self._server_domain

    @property
    def prefix(self) -> str:
        """The API prefix of the requests."""
        return build_api_prefix(self.settings.js_domain, self.settings.js_api_prefix)

    async def ask(self, fetch: Fetch[Any]) -> Any:
        """Fetch something else from the same place, on the same connection. Raises JsctlError."""
        data, _ = await self.link.fetch(fetch, self.settings, self._trace)
        return data

    def describe(self) -> str:
        """Return the context or address and the domain, for a sentence."""
        domain = f", domain {self.domain}" if self.domain else ""
        return f"{'context ' if self.settings.context else ''}{self.context}{domain}"

    @property
    def where(self) -> str:
        """The server's address, without credentials."""
        return strip_login(self.settings.url)

    @property
    def waiting(self) -> float:
        """Seconds that a request has been waiting for its answer; 0 without a request."""
        return 0.0 if self._since is None else time.monotonic() - self._since

    async def poll(self) -> None:
        """Ask once. Never raises: a failure is recorded."""
        self._since = time.monotonic()
        try:
            data, self._server_domain = await self.link.fetch(self._fetch, self.settings, self._trace)
            self.history.append(Answer(time.monotonic(), data))
            self.failure = None
        except JsctlError as error:
            self.failure = error
        except Exception as error:  # whatever this server sent, the other pollers continue
            self.failure = JsctlError(f"unexpected {type(error).__name__}: {error}")
        finally:
            self._since = None
        self.at = self._clock()


class Watch(Generic[T]):
    """Several pollers, asked in rounds. An async context manager: leaving it closes every connection."""

    def __init__(self, pollers: list[Poller[T]], links: Sequence[Link]) -> None:
        self.pollers = pollers
        self._links = links
        self._running: dict[Poller[T], asyncio.Task[None]] = {}
        self._compared: list[Poller[T]] = []  #: whose JetStreams are known to differ

    def take_advisories(self) -> list[list[Json] | None]:
        """Return what each place received since the last call; None where nothing listens. A place gets the
        advisories of its own domain, as a domain's connection also has those of others."""
        taken = {
            link: None if link.log is None or link.log.is_denied else link.log.take() for link in self._links
        }
        return [_select_advisories(taken[poller.link], poller) for poller in self.pollers]

    async def __aenter__(self) -> "Watch[T]":
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        await asyncio.gather(*(link.close() for link in self._links))

    async def ask_once(self) -> None:
        """Ask all of them once, and wait for every answer or timeout."""
        self._poll_idle()
        await asyncio.wait(self._running.values())

    async def one_round(self, seconds: float) -> AsyncIterator[None]:
        """Ask those that are not being asked, and yield after every answer, at least once; end when all have
        answered, or after `seconds`: one that hangs is not asked again before its timeout."""
        end = asyncio.get_running_loop().time() + seconds
        self._poll_idle()
        while True:
            pending = [task for task in self._running.values() if not task.done()]
            remaining = end - asyncio.get_running_loop().time()
            if not pending or remaining <= 0:
                yield
                return
            await asyncio.wait(pending, timeout=remaining, return_when=asyncio.FIRST_COMPLETED)
            pending = [task for task in pending if not task.done()]
            if pending:
                await asyncio.wait(pending, timeout=min(SETTLE, remaining))
                if not all(task.done() for task in pending):  # otherwise the final yield follows at once
                    yield

    async def drop_repeated(self, say: Callable[[str], None], done: str) -> list[int]:
        """Forget the pollers that answer and reach the JetStream of an earlier one, and say so; return their
        numbers, the last first. done: what is done with a JetStream once, such as "shown"."""
        answering = [poller for poller in self.pollers if poller.at is not None and not poller.failure]
        if len(answering) < 2 or answering == self._compared:
            return []
        try:
            firsts = await find_first_places(await gather(poller.ask(_get_api) for poller in answering))
        except JsctlError:
            return []  # the next round compares
        dropped = []
        for poller, first in reversed(list(zip(answering, firsts, strict=True))):
            if answering[first] is not poller:
                other = answering[first].describe()
                say(f"{poller.describe()} is the JetStream of {other}, and is {done} once")
                dropped.append(self.pollers.index(poller))
                self._running.pop(poller, None)
        for number in dropped:
            del self.pollers[number]
        self._compared = [poller for poller in answering if poller in self.pollers]
        return dropped

    def _poll_idle(self) -> None:
        for poller in self.pollers:
            if poller not in self._running or self._running[poller].done():
                self._running[poller] = asyncio.ensure_future(poller.poll())


def watch(
    targets: Sequence[Settings],
    build_fetch: Callable[[int], Fetch[T]],
    *,
    clock: Callable[[], float] = time.time,
    trace: Trace | None = None,
    build_log: Callable[[Settings], AdvisoryLog] | None = None,
) -> Watch[T]:
    """Return a Watch of these targets, in order. Those that differ only in the domain share a connection.

    build_fetch: returns what fetches from a target, by its number. build_log: returns what receives the
    advisories of a connection; None for nothing.
    """
    links: dict[Settings, Link] = {}
    pollers = []
    for number, target in enumerate(targets):
        login = target._replace(js_domain="", js_api_prefix="")
        link = links.setdefault(login, Link(login, build_log(login) if build_log else None))
        pollers.append(Poller(link, target, build_fetch(number), clock=clock, trace=trace))
    return Watch(pollers, list(links.values()))


def _select_advisories(entries: list[Json] | None, poller: Poller[Any]) -> list[Json] | None:
    if entries is None or poller.settings.js_api_prefix:
        return entries
    return [one for one in entries if one["domain"] == poller.domain or is_of_servers(one["kind"])]


async def _get_api(api: Api) -> Api:
    return api


async def find_distinct(targets: Sequence[Settings], say: Callable[[str], None]) -> list[Settings]:
    """Return the targets without those that reach the JetStream of an earlier one, which it says. One that
    does not answer is distinct."""
    async with watch(targets, lambda _: _get_api) as watched:
        await watched.ask_once()
        await watched.drop_repeated(say, "exported")
        return [poller.settings for poller in watched.pollers]
