"""The metrics of several contexts and domains, fetched in rounds."""

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import Any, TypeVar

from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api
from jsctl.monitor.account import fetch_user
from jsctl.monitor.exporter.metrics import Identity, Names, build_samples
from jsctl.monitor.exporter.sample import Sample
from jsctl.monitor.exporter.text import format_samples
from jsctl.monitor.polling import yield_rounds
from jsctl.monitor.report.places import Place, Places
from jsctl.monitor.report.watching import Clock, Trace

T = TypeVar("T")


class Exporter:
    """An exporter of the metrics of several places. text: the output of the last round."""

    def __init__(
        self,
        targets: Sequence[Settings],
        *,
        pattern: str,
        consumers: bool,
        names: Names,
        prefix: str = "",
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
        )
        self._names, self._prefix = names, prefix
        self._clock = clock
        self._identities: dict[int, Identity] = {}
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
            identity = await self._get_identity(index) if answers is not None else Identity()
            problems = place.problems(self._clock())
            samples += build_samples(place, answers, problems, identity, self._names, is_alone=is_alone)
        self.text = format_samples(samples, self._prefix)
        return places

    async def _get_identity(self, index: int) -> Identity:
        """Return the identity of one place, fetched once."""
        if index not in self._identities:
            try:
                self._identities[index] = await self._places.ask(index, _ask_identity)
            except JsctlError:
                return Identity()
        return self._identities[index]


async def _ask_identity(api: Api) -> Identity:
    info = api.connection.server_info
    server, cluster = str(info.get("server_name") or ""), str(info.get("cluster") or "")
    user = await fetch_user(api.connection)
    account, name = str(user.get("account") or ""), str(user.get("account_name") or "")
    return Identity(account, name, server, cluster)


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
