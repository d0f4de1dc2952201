"""Sampling over time for `jsctl export reports`. Samples are written in batches: memory stays bounded, and a
killed process loses at most one batch."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from jsctl.base.units import SECOND, seconds_to_ns, to_datetime
from jsctl.contexts.settings import Settings
from jsctl.errors import ExitStatus
from jsctl.monitor.report.replay import Replay
from jsctl.monitor.report.watching import Poller, Watch, watch
from jsctl.spark.export.report_tables import (
    SCHEMAS,
    Sample,
    build_recorded_rows,
    build_rows_by_table,
    fetch_sample,
)
from jsctl.spark.export.table_writer import Rows, TableWriter
from jsctl.spark.export.targets import FolderTarget
from jsctl.spark.session.session import SessionOptions

FLUSH_EVERY = 60 * SECOND
FLUSH_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """The source of samples, and how often they are taken.

    places: one for each context and domain. every, duration: in ns; an `every` of 0 means one sample, a
    duration of 0 no end.
    """

    places: Sequence[Settings]
    every: int
    duration: int
    session: SessionOptions


class SamplingResult(NamedTuple):
    """The outcome of an export. rows: number of rows by table. seconds: its duration. status: of a failure in
    the last sample, OK if there is none."""

    rows: dict[str, int]
    seconds: float
    status: ExitStatus


async def export_reports(
    options: SamplingOptions,
    target: FolderTarget,
    stop: asyncio.Event,
    *,
    clock: Callable[[], float],
    notify: Callable[[str], None],
    started: Callable[[], None],
) -> SamplingResult:
    """Take samples and write them, until the duration is over or `stop` is set.

    Args:
        notify: shows a sentence to people.
        started: called once, when the first sample was taken.

    Raises JsctlError when no place answers the first time.
    """
    begin = time.monotonic()
    async with watch(options.places, lambda _: fetch_sample, clock=clock) as polled:
        sampler = _Sampler(polled, notify)
        first = await sampler.take_first()
        async with TableWriter(target, SCHEMAS, options.session) as writer:
            started()
            await _write_samples(first, sampler, writer, options, stop)
        return SamplingResult(writer.rows, time.monotonic() - begin, sampler.status)


async def export_recording(replay: Replay, target: FolderTarget, session: SessionOptions) -> SamplingResult:
    """Write the rounds of a recorded report. Raises BadInput for a damaged round."""
    begin = time.monotonic()
    async with TableWriter(target, SCHEMAS, session) as writer:
        buffer: dict[str, list[Any]] = {name: [] for name in SCHEMAS}
        for number, at in enumerate(replay.times):
            for place in replay.places(number):
                if place.answers is None:
                    continue
                round_time = to_datetime(seconds_to_ns(at))
                for name, rows in build_recorded_rows(
                    place.answers, place.context, place.domain, round_time
                ).items():
                    buffer[name].extend(rows)
            if sum(map(len, buffer.values())) >= FLUSH_ROWS:
                await writer.write(buffer)
                buffer = {name: [] for name in buffer}
        await writer.write(buffer)
    return SamplingResult(writer.rows, time.monotonic() - begin, ExitStatus.OK)


async def _write_samples(
    first: Rows, sampler: "_Sampler", writer: TableWriter, options: SamplingOptions, stop: asyncio.Event
) -> None:
    """Write `first`, and the samples that follow it.

    A sample that takes longer than `every` delays the next ones. Samples that were taken before `stop` was
    set are written.
    """
    loop = asyncio.get_running_loop()
    begin = flushed = loop.time()
    due = 0  # ns since the beginning
    every, duration = options.every, options.duration
    buffer: dict[str, list[Any]] = {name: list(rows) for name, rows in first.items()}
    while every and (not duration or due + every <= duration):
        due = max(due + every, int((loop.time() - begin) * SECOND))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, begin + due / SECOND - loop.time())):
                await stop.wait()
        if stop.is_set():
            break
        for name, rows in (await sampler.take()).items():
            buffer[name].extend(rows)
        if loop.time() - flushed >= FLUSH_EVERY / SECOND or sum(map(len, buffer.values())) >= FLUSH_ROWS:
            await writer.write(buffer)
            buffer, flushed = {name: [] for name in buffer}, loop.time()
    await writer.write(buffer)


class _Sampler:
    """A source of samples of all places.

    It notifies once when a place cannot be reached, when it is back, and of data that a login may not see.
    """

    def __init__(self, polled: Watch[Sample], notify: Callable[[str], None]) -> None:
        self._polled = polled
        self._notify = notify
        self._failing: set[Poller[Sample]] = set()
        self._gaps: dict[Poller[Sample], Sequence[str]] = {}  #: of the last sample

    @property
    def status(self) -> ExitStatus:
        """The exit status of a failure in the last sample, OK if there is none."""
        return next(
            (poller.failure.status for poller in self._polled.pollers if poller.failure), ExitStatus.OK
        )

    async def take_first(self) -> Rows:
        """Take the first sample. Raises JsctlError when no place answers."""
        await self._polled.ask_once()
        failures = [poller.failure for poller in self._polled.pollers if poller.failure]
        if len(failures) == len(self._polled.pollers):
            raise failures[0]
        return await self._collect_rows()

    async def take(self) -> Rows:
        await self._polled.ask_once()
        return await self._collect_rows()

    async def _collect_rows(self) -> Rows:
        await self._polled.drop_repeated(self._notify, "sampled")
        for poller in self._polled.pollers:
            if poller.failure and poller not in self._failing:
                self._failing.add(poller)
                self._notify(f"jsctl: not in the samples: {_name(poller)}: {poller.failure}")
            elif not poller.failure and poller in self._failing:
                self._failing.discard(poller)
                self._notify(f"jsctl: in the samples again: {_name(poller)}")
            if not poller.failure:
                self._notify_of_gaps(poller)
        return build_rows_by_table(
            _with_place(poller) for poller in self._polled.pollers if not poller.failure
        )

    def _notify_of_gaps(self, poller: Poller[Sample]) -> None:
        gaps = poller.history[-1].data.gaps
        if gaps != self._gaps.get(poller, ()):
            for gap in gaps:
                self._notify(f"jsctl: not in the samples: {_name(poller)}: {gap}")
            self._gaps[poller] = gaps


def _with_place(poller: Poller[Sample]) -> Sample:
    sample = poller.history[-1].data
    snapshot = sample.snapshot._replace(context=poller.context, domain=poller.domain)
    return sample._replace(snapshot=snapshot)


def _name(poller: Poller[Sample]) -> str:
    return " ".join(part for part in (poller.context, poller.domain) if part)
