"""The metrics of several contexts and domains, fetched in rounds."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api
from jsctl.jetstream.identity import Identity, fetch_identity
from jsctl.monitor.account import fetch_login
from jsctl.monitor.exporter.advisory_counts import AdvisoryCounts
from jsctl.monitor.exporter.metrics import Account, Names, build_samples
from jsctl.monitor.exporter.sample import Sample
from jsctl.monitor.exporter.subjects import SubjectCounts
from jsctl.monitor.exporter.text import format_samples
from jsctl.monitor.polling import yield_rounds
from jsctl.monitor.report.places import Answers, Place, Places
from jsctl.monitor.report.watching import Clock, Trace

T = TypeVar("T")


class Exporter:
    """An exporter of the metrics of several places. text: the output of the last round.

    subjects: how many of each stream have a metric of their own, 0 for none.
    """

    def __init__(
        self,
        targets: Sequence[Settings],
        *,
        pattern: str,
        consumers: bool,
        names: Names,
        prefix: str = "",
        subjects: int = 0,
        clock: Clock = time.time,
        trace: Trace | None = None,
    ) -> None:
        self._places = Places(
            targets,
            pattern=pattern,
            with_consumers=consumers,
            needs="lists",
            clock=clock,
            trace=trace,
            listens_for="" if names == "jetstream" else "jetstream",
        )
        self._advisories = [AdvisoryCounts() for _ in targets]
        self._names, self._prefix = names, prefix
        self._clock = clock
        self._accounts: dict[int, tuple[Identity, Account]] = {}
        self._subjects = [SubjectCounts(subjects) for _ in targets] if subjects else []
        self.text = ""

    async def close(self) -> None:
        """Close every connection."""
        await self._places.close()

    async def rounds(
        self, seconds: float, count: int | None, stop: asyncio.Event
    ) -> AsyncIterator[Sequence[Place]]:
        """Yield what is known after each round, which `text` then shows.

        seconds: between rounds. count: None for no end. stop: ends them.
        """
        async for _ in yield_rounds(seconds, count, stop):
            places = await _run_until(self._run_round(seconds), stop)
            if places is None:
                return
            yield places

    async def _run_round(self, seconds: float) -> Sequence[Place]:
        places: Sequence[Place] = ()
        async for answered in self._places.one_round(seconds):
            places = answered
        samples: list[Sample] = []
        is_alone = all(place.tracker.streams is None for place in places)
        for index, place in enumerate(places):
            answers = self._places.answers[index]
            if answers is not None:
                await self._identify(index)
            account = self._accounts[index][1] if index in self._accounts else Account()
            problems = place.problems(self._clock())
            if answers is not None and self._is_repeated(index):
                answers, problems = Answers(account={}), []
            counts = await self._count_subjects(index, answers)
            infos = answers.overview.consumers if answers is not None and answers.overview else None
            self._advisories[index].add(self._places.advisories[index], infos)
            samples += build_samples(
                place,
                answers,
                problems,
                account,
                self._names,
                subjects=counts,
                advisories=self._advisories[index],
                is_alone=is_alone,
            )
        self.text = format_samples(samples, self._prefix)
        return places

    async def _identify(self, index: int) -> None:
        """Fetch once which JetStream a place is, and its account."""
        if index not in self._accounts:
            with contextlib.suppress(JsctlError):
                self._accounts[index] = await self._places.ask(index, _fetch_account)

    async def _count_subjects(self, index: int, answers: Answers | None) -> Mapping[str, Mapping[str, int]]:
        """Return the messages by subject of each stream that answers, if they are asked for."""
        if not self._subjects or answers is None or answers.overview is None:
            return {}
        streams = [row.stream for row in answers.overview.streams if row.offline is None]
        counts: dict[str, dict[str, int]] = {}
        with contextlib.suppress(JsctlError):
            counts = await self._places.ask(index, lambda api: self._subjects[index].fetch(api, streams))
        return counts

    def _is_repeated(self, index: int) -> bool:
        """Return whether an earlier place that answers is the same JetStream: its metrics count once."""
        return index in self._accounts and any(
            self._accounts[other][0].is_same(self._accounts[index][0])
            for other in range(index)
            if other in self._accounts and self._places.answers[other] is not None
        )


async def _fetch_account(api: Api) -> tuple[Identity, Account]:
    """Fetch which JetStream a place is, and its account, with the server that has it."""
    info = api.connection.server_info
    identity, user = await asyncio.gather(fetch_identity(api), fetch_login(api.connection))
    key, name = str(user.get("account") or ""), str(user.get("account_name") or "")
    if identity.account not in ("", key):  # another name on the other side of a leaf node connection
        key = name = identity.account
    server, cluster = identity.server, identity.cluster
    if str(info.get("server_id")) in identity.servers and not identity.prefix:
        server, cluster = str(info.get("server_name") or ""), str(info.get("cluster") or "")
    return identity, Account(key, name, server, cluster)


async def _run_until(work: Coroutine[Any, Any, T], stop: asyncio.Event) -> T | None:
    """Return the result of `work`; None once `stop` is set, which cancels it."""
    task, stopping = asyncio.ensure_future(work), asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        for pending in (task, stopping):
            pending.cancel()
        await asyncio.gather(task, stopping, return_exceptions=True)
