"""Contexts and domains on a screen, asked in rounds for what the screen shows, and tracked over time."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from jsctl.base.command_lines import Suggestion
from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.errors import ApiError, Denied, ExitStatus, JsctlError, NoJetStream
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.paging import Memory
from jsctl.monitor.polling import yield_rounds
from jsctl.monitor.report.advisories import AdvisoryLog
from jsctl.monitor.report.lines import TroubleLine
from jsctl.monitor.report.listings import LISTED, RECORDED_EVERY, Lister, Listing
from jsctl.monitor.report.overview import Overview, StreamParts, fetch_overview, is_static
from jsctl.monitor.report.polling_order import PollingOrder
from jsctl.monitor.report.tracking import Tracker
from jsctl.monitor.report.watching import Clock, Fetch, Poller, Trace, Watch, watch
from jsctl.monitor.rules.contexts import choose_code
from jsctl.monitor.server.requests import STATSZ, fetch_servers, get_server_id, ping
from jsctl.monitor.trouble import Gap, Trouble
from jsctl.nats.error_codes import ErrorCode

SILENT, WITHOUT_JETSTREAM, FAILED = "unreachable", "without JetStream", "failed"
"""The states of places that failed."""

DEFAULT_PREFIX = "$JS.API"

_LATE_AFTER = 3.0  #: seconds without an answer after which the screen says so


class Answers(NamedTuple):
    """The answers of one place in one round; None for what was not requested. gap: why the account's limits
    or what servers do are not known. listings: those of LISTED that were requested."""

    overview: Overview | None = None
    account: Json | None = None
    servers: tuple[Sequence[Json], Sequence[Json]] | None = None
    gap: Gap | None = None
    listings: Sequence[Listing] = ()


Needs = Literal[
    "screen",  #: all, with the consumers of many streams in turns
    "lists",  #: all but what servers do, and that of the system account
    "all",  #: all
    "everything",  #: all, and why something is missing
]
"""What is asked of a place in a round."""


async def fetch_answers(
    api: Api,
    needs: Needs,
    pattern: str,
    with_consumers: bool,
    order: PollingOrder,
    memory: Memory[StreamParts],
    heard: set[str],
    *,
    with_config: bool,
) -> Answers:
    """Fetch what is asked of a place in a round. order: of whose consumers are listed. memory: of the rounds
    before. heard: IDs of the servers that answered in the round before, which it keeps. with_config: whether
    to ask servers which configuration they have loaded. Raises what `Api.call` raises."""
    overview = partial(fetch_overview, api, pattern=pattern, consumers=with_consumers)
    servers = partial(_fetch_servers, api, heard)
    with_details = partial(servers, with_config=with_config)
    match needs:
        case "lists":
            return await _fetch_lists_or_servers(overview, servers)
        case "everything":
            return await _fetch_all(api, overview, with_details)
        case "all":
            return (await _fetch_all(api, overview, with_details))._replace(gap=None)
        case "screen":
            in_turns = partial(overview, order=order, memory=memory)
            return (await _fetch_all(api, in_turns, with_details))._replace(gap=None)


_Servers = tuple[Sequence[Json], Sequence[Json]]
"""The replies to STATSZ, and those to JSZ."""


async def _fetch_lists_or_servers(
    fetch_lists: Callable[[], Awaitable[Overview]], ask_servers: Callable[[], Awaitable[_Servers]]
) -> Answers:
    """Fetch an account, or the servers when it is the system account, which has no JetStream."""
    try:
        return Answers(await fetch_lists())
    except ApiError as error:
        if error.err_code != ErrorCode.NOT_ENABLED_FOR_ACCOUNT:
            raise
        try:
            return Answers(servers=await ask_servers())
        except Denied:
            raise error from None


async def _fetch_servers(api: Api, heard: set[str], *, with_config: bool = False) -> _Servers:
    """Fetch the replies to STATSZ and JSZ. Those to STATSZ have a key `rtt`, too: ns until they arrived.
    with_config: and a key `config`, of what VARZ says of the configuration that is loaded."""
    answers = await fetch_servers(api.connection, subject=STATSZ, known=heard)
    heard.clear()
    heard.update(get_server_id(reply) for reply, _ in answers)
    stall = max(SECOND // 2, 2 * max(rtt for _, rtt in answers))
    statistics: list[Json] = [{**reply, "rtt": rtt} for reply, rtt in answers]
    if with_config:
        configs = {
            reply["server"]["id"]: {key: reply["data"].get(key) for key in _CONFIG_KEYS}
            for reply in await ping(api.connection, "VARZ", expect=len(answers), stall=stall)
        }
        statistics = [
            {**reply, "config": configs[reply["server"]["id"]]} if reply["server"]["id"] in configs else reply
            for reply in statistics
        ]
    return statistics, await ping(api.connection, "JSZ", {}, expect=len(answers), stall=stall)


_CONFIG_KEYS = ("config_digest", "config_load_time")


async def _fetch_all(
    api: Api,
    fetch_lists: Callable[[], Awaitable[Overview]],
    ask_servers: Callable[[], Awaitable[_Servers]],
) -> Answers:
    """Fetch what all parts show. The system account has servers and no streams; whatever keeps another login
    from asking servers, its streams are there."""
    servers, gap = None, None
    try:
        servers = await ask_servers()
    except JsctlError as error:
        gap = Gap("servers", f"what servers do cannot be seen: {error.message}")
    try:
        return Answers(await fetch_lists(), servers=servers, gap=gap)
    except JsctlError:
        if servers is None:
            raise
        return Answers(servers=servers, gap=gap)


class Place(NamedTuple):
    """A context and domain in its present state.

    domain: empty with an API prefix. flags: of a command line for it. at: when it answered last,
    in seconds since 1970, None for not yet. error: why it does not answer now, empty when it does. state: a
    word for the error. prefix: of its API. failure: why the last attempt failed. tried_at: when it ended.
    """

    context: str
    domain: str
    flags: Sequence[str]
    at: float | None
    error: str
    state: str
    tracker: Tracker
    prefix: str = DEFAULT_PREFIX
    failure: JsctlError | None = None
    tried_at: float | None = None

    @property
    def where(self) -> str:
        """The domain, or an API prefix that stands for one."""
        return self.domain or ("" if self.prefix == DEFAULT_PREFIX else self.prefix)

    @property
    def is_system(self) -> bool:
        """Whether it is of the system account, which has servers and no streams."""
        return self.tracker.streams is None and self.tracker.servers is not None

    def has_part(self, part: str) -> bool:
        """Return whether what a part shows is known, now or from an earlier round."""
        known = self.tracker.servers if part == "servers" else self.tracker.streams
        return known is not None or self.is_system

    def find_outage(self, part: str = "") -> str:
        """Return why a part is not shown, empty when it is."""
        if self.failure is not None:
            return str(self.failure)
        return self.error or ("" if self.has_part(part) else "no answer yet")

    def problems(self, now: float) -> list[TroubleLine]:
        """Return what is wrong, the worst first; a place that does not answer is a problem itself. now:
        seconds since 1970."""
        if not self.error:
            return self.tracker.problems(now)
        help = [Suggestion("doctor")]
        code = choose_code(self.failure)
        return self.tracker.problems(now, Trouble(self.state, True, code, self.error, help))

    @property
    def title(self) -> str:
        """The context, and the domain where it has another name."""
        return f"{self.context} {self.where}" if self.where not in ("", self.context) else self.context


class Round(NamedTuple):
    """The state of all places at a given time. at: of a recorded round, in seconds since 1970; None for
    now."""

    places: Sequence[Place]
    at: float | None = None


class Places:
    """The connections to several contexts and domains, until `close`.

    pattern: glob of streams. with_consumers: False fetches none. needs: what is asked in each round. listing:
    one of LISTED that is asked for beside it, which may be changed between rounds; empty for none. For a
    recording, all of them are in every RECORDED_EVERY rounds.
    listens_for: the advisories that are received, of JetStream or for a recording all, those of servers that
    stop, too, and which configuration servers have loaded. advisories: by
    place, those since the round before; None for a place that gets none.
    """

    def __init__(
        self,
        targets: Sequence[Settings],
        *,
        pattern: str,
        with_consumers: bool,
        needs: Needs,
        listing: str = "",
        clock: Clock = time.time,
        trace: Trace | None = None,
        say: Callable[[str], None] | None = None,
        listens_for: Literal["", "jetstream", "all"] = "",
    ) -> None:
        self._say = say
        self.listing = listing

        self._seconds = 0.0
        self._round = 0
        self._orders = [PollingOrder(lambda: self._seconds, clock) for _ in targets]

        records = listens_for == "all"

        def build_fetch(number: int) -> Fetch[Answers]:
            order, memory = self._orders[number], Memory[StreamParts](is_static)
            lister, listed_in = Lister(pattern), -RECORDED_EVERY
            heard: set[str] = set()

            async def fetch(api: Api) -> Answers:
                nonlocal listed_in
                number = self._round
                is_due = records and number >= listed_in + RECORDED_EVERY
                parts = LISTED if is_due else (self.listing,) if self.listing else ()
                asking = fetch_answers(
                    api, needs, pattern, with_consumers, order, memory, heard, with_config=records
                )
                if not parts:
                    return await asking
                listings = asyncio.ensure_future(lister.fetch(api, parts))
                try:
                    answers = (await asking)._replace(listings=await listings)
                finally:
                    listings.cancel()
                listed_in = number if is_due else listed_in
                return answers

            return fetch

        def build_log(target: Settings) -> AdvisoryLog:
            return AdvisoryLog(target.js_event_prefix, clock, is_recorded=records)

        self._watch: Watch[Answers] = watch(
            targets, build_fetch, clock=clock, trace=trace, build_log=build_log if listens_for else None
        )
        self.trackers = [Tracker() for _ in self._watch.pollers]
        self._answered: list[float | None] = [None for _ in self._watch.pollers]
        self.answers: list[Answers | None] = [None for _ in self._watch.pollers]
        self.advisories: list[list[Json] | None] = [None for _ in self._watch.pollers]

    async def close(self) -> None:
        """Close every connection."""
        await self._watch.__aexit__()

    async def one_round(
        self, seconds: float, *, keeps_places: bool = False
    ) -> AsyncIterator[Sequence[Place]]:
        """Ask every place, and yield the state of all after each answer; see `Watch.one_round`. keeps_places:
        repeated ones, too, so that numbers of places stay what they are."""
        self.answers = [None for _ in self._watch.pollers]
        self._seconds = seconds
        self._round += 1
        async for _ in self._watch.one_round(seconds):
            yield await self._process_all(seconds)
        is_dropped = not keeps_places and await self._drop_repeated()
        self.advisories = self._watch.take_advisories()
        if is_dropped:
            yield await self._process_all(seconds)

    async def ask_once(self) -> Sequence[Place]:
        """Ask every place, and return the state of all after every answer or timeout: the only round."""
        for tracker in self.trackers:
            tracker.is_single = True
        await self._watch.ask_once()
        await self._drop_repeated()
        return await self._process_all(0)

    async def rounds(self, seconds: float, count: int | None = None) -> AsyncGenerator[Sequence[Place], None]:
        """Yield the state of all places after each round. seconds: between rounds. count: None for no end."""
        async for _ in yield_rounds(seconds, count):
            places: Sequence[Place] = ()
            async for answered in self.one_round(seconds):
                places = answered
            yield places

    def list_flags(self, number: int) -> Sequence[str]:
        """Return the flags of a command line for one place."""
        return self._watch.pollers[number].settings.place

    def get_failure(self, number: int) -> JsctlError | None:
        """Return why one place does not answer; None if it does."""
        return self._watch.pollers[number].failure

    async def ask(self, number: int, fetch: Callable[[Api], Any]) -> Any:
        """Fetch something else from one place. Raises JsctlError."""
        return await self._watch.pollers[number].ask(fetch)

    async def _drop_repeated(self) -> bool:
        """Leave out the places that are the JetStream of an earlier one; return whether there are any."""
        dropped = await self._watch.drop_repeated(self._say, "shown") if self._say else []
        for index in dropped:
            for values in (self._orders, self.trackers, self._answered, self.answers):
                del values[index]
        return bool(dropped)

    async def _process_all(self, seconds: float) -> Sequence[Place]:
        for index, poller in enumerate(self._watch.pollers):
            await self._process_answers(index, poller)
        return [self._build_place(index, poller, seconds) for index, poller in enumerate(self._watch.pollers)]

    async def _process_answers(self, index: int, poller: Poller[Answers]) -> None:
        if not poller.history:
            return
        when, answers = poller.history.pop()  # not kept: with 10,000 consumers it is large
        self._answered[index] = poller.at
        self.answers[index] = answers
        await take_answers(self.trackers[index], when, answers)
        self.trackers[index].consumers_at = self._orders[index].oldest

    def _build_place(self, index: int, poller: Poller[Answers], seconds: float) -> Place:
        failure, waiting = poller.failure, poller.waiting
        error = failure.message if failure is not None else ""
        state = "" if failure is None else name_failure(failure)
        if failure is None and waiting >= max(_LATE_AFTER, 1.5 * seconds):
            error, state = f"no answer for {waiting:.0f}s", "late"
        return Place(
            poller.context,
            poller.domain,
            poller.settings.place,
            self._answered[index],
            error,
            state,
            self.trackers[index],
            poller.prefix,
            failure,
            poller.at,
        )


async def take_answers(tracker: Tracker, at: float, answers: Answers) -> None:
    """Add a place's answers to its tracker. at: seconds of a monotonic clock."""
    if answers.overview is not None:
        await tracker.add(at, answers.overview)
    tracker.listings |= {listing.part: listing for listing in answers.listings}
    if answers.account is not None:
        tracker.add_account(at, answers.account)
    if answers.gap is not None:
        tracker.add_gap(answers.gap)
    if answers.servers is not None:
        tracker.add_servers(at, *answers.servers)


def name_failure(failure: JsctlError) -> str:
    """Return the word for a context that failed: SILENT, WITHOUT_JETSTREAM or FAILED."""
    if isinstance(failure, NoJetStream):
        return WITHOUT_JETSTREAM
    return SILENT if failure.status is ExitStatus.UNREACHABLE else FAILED
