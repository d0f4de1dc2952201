"""The writer of Events, as text for people, JSON or raw bytes, until their end, a count or ctrl-C.

This file is long because all ways in which events end are in one place: several can come at once.
"""

import contextlib
import json
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Generic, TextIO, TypeVar

from jsctl.base.json_text import parse_json
from jsctl.base.loops import call_later, sleep, start
from jsctl.base.signals import handle_signals
from jsctl.base.units import SECOND, format_exact_duration, pluralize
from jsctl.base.yaml_text import format_yaml
from jsctl.errors import BadInput, ExitStatus, JsctlError
from jsctl.render import delimited
from jsctl.render.closed_pipe import wait_until_closed, wait_until_read
from jsctl.render.delimited import TABLES, Delimiters
from jsctl.render.emit import Form, emit, format_json_items, simplify_value
from jsctl.render.text import clean_json, clean_lines
from jsctl.views.events import Ending, Events, close_after
from jsctl.views.result import Result

if TYPE_CHECKING:
    from jsctl.views.board import Gauge

E = TypeVar("E")
OpenScreen = Callable[["Gauge", Callable[[], object]], contextlib.AbstractAsyncContextManager[None]]
"""Shows a gauge on a live screen during a block. Its second argument is called when the user quits."""

STALLED = 1.0
"""Seconds that a write may take before the reader of our output counts as slow."""

_GAUGE_INTERVAL = 1.0  #: seconds between two lines of a gauge
_GRACE_SECONDS = 1.0  #: seconds after ctrl-C that events with an orderly end may still take to arrive
_MAX_EXTENSIONS = 2  #: how often this time begins again, when some have arrived
_compact = json.JSONEncoder(ensure_ascii=False, default=simplify_value).encode


class Interrupted(JsctlError):
    """Ctrl-C arrived before all requested events occurred."""

    status = ExitStatus.INTERRUPTED


def write_bytes(out: TextIO, data: bytes) -> None:
    """Write bytes unchanged; to a stream without a binary buffer, write them as text."""
    if (binary := getattr(out, "buffer", None)) is None:
        out.write(data.decode(errors="surrogateescape"))
        return
    out.flush()
    binary.write(data)
    binary.flush()


async def write_events(
    events: Events[E],
    out: TextIO,
    form: Form,
    *,
    say: Callable[[str], None],
    emit: Callable[[Result], object] = lambda result: None,
    screen: OpenScreen | None = None,
    width: int | None = None,
) -> Result | ExitStatus | None:
    """Write events as they occur, until their end, their count or ctrl-C.

    A batch is one write: with one write per message, 100,000 messages would take 0.12 s more processor time.

    Args:
        say: writes a line to stderr.
        emit: writes a snapshot to `out` in its form.
        screen: opens a live screen for a gauge, which is written as lines without it.
        width: columns of the terminal; None for no limit.

    Returns what to show last. Raises BadInput for CSV or TSV of events without a table, Interrupted, and
    whatever the iterator or a write raises.
    """
    if form in TABLES and not events.shown.heading and events.shown.snapshot is None:
        raise BadInput("messages and events have no table for CSV or TSV", "use --json")
    return await _Writer(events, out, form, say, emit, screen, width).run()


class _Writer(Generic[E]):
    def __init__(
        self,
        events: Events[E],
        out: TextIO,
        form: Form,
        say: Callable[[str], None],
        emit: Callable[[Result], object],
        screen: OpenScreen | None,
        width: int | None,
    ) -> None:
        self._events = events
        self._gauge = events.meter.gauge if events.meter else None
        self._shown = events.shown
        self._end = events.end
        self._out = out
        self._say = say
        self._emit = emit
        self._yaml = form == "yaml" and not events.shown.as_json
        self._json = form in ("json", "yaml") or events.shown.as_json
        self._terminal = out.isatty()
        self._delimiters = (
            Delimiters("," if form == "csv" else "\t", self._terminal) if form in TABLES else None
        )
        self._open_screen = screen
        self._width = width
        self._title = events.shown.title  #: until it is written
        self._write_events = self._choose_writer()
        self._written = 0  #: events that count
        self._records = 0
        self._reading = False  #: whether we wait for the next batch
        self._interrupted = False
        self._signals: list[int] = []  #: that arrived
        self._timer: Any = None  #: of `idle`
        self._timed_out = False
        self._pipe_closed = False  #: whether nobody reads our output any more
        self._given_up = False  #: whether we cancelled the source of the events
        self._task: Any = None

    def _choose_writer(self) -> Callable[[Sequence[E]], None]:
        shown = self._shown
        if self._events.meter is not None:
            return self._events.meter.add
        if self._delimiters is not None:
            return self._write_values if shown.snapshot is None else self._write_snapshots
        if self._yaml:
            return self._write_yaml
        if self._json:
            return {
                "lines": self._write_json_lines,
                "array": self._write_json_array,
                "single": self._write_json_documents,
            }[shown.layout]
        if shown.raw is not None and not self._terminal:
            return self._write_raw
        return self._write_text if shown.snapshot is None else self._write_snapshots

    async def run(self) -> Result | ExitStatus | None:
        events, end = self._events, self._end
        ending: Ending = "failed"
        try:
            with self._handle_interrupts():
                async with self._run_gauge():
                    await self._write_all()
            if self._pipe_closed:
                raise BrokenPipeError
            ending = "interrupted" if self._interrupted else "complete"
            self._end_document()
        except BaseException:
            self._close_document()
            raise
        finally:
            if summary := events.summary(ending):
                self._say(summary)
        if self._interrupted and self._written < end.limit:
            failure = Interrupted(f"ended after {self._written:,} of {pluralize(end.limit, end.noun)}")
            failure.status = self._find_status() or failure.status
            raise failure
        if self._timed_out and self._written < end.limit:
            expected, waited = pluralize(end.limit, end.noun), format_exact_duration(end.idle)
            self._say(f"jsctl: {self._written:,} of {expected}; no more arrived in {waited}")
            return ExitStatus.NOT_FOUND
        result, status = events.result(), self._find_status()
        return (
            result if not status else result._replace(status=status) if isinstance(result, Result) else status
        )

    def _find_status(self) -> ExitStatus | None:
        """Return the exit status if SIGTERM ended the events: ctrl-C is the ordinary end of most."""
        return ExitStatus.TERMINATED if signal.SIGTERM in self._signals else None

    async def _write_all(self) -> None:
        limit, counts, stop = self._end.limit, self._end.counts, self._end.stop
        async with close_after(self._events.batches) as batches:
            self._reading = True
            self._restart_timer()
            try:
                async for batch in batches:
                    self._restart_timer()
                    items = self._take(batch)
                    if items:
                        self._write(items)
                        if self._shown.awaits_reader:
                            await wait_until_read(self._out)
                        self._written += len(items) if counts is None else sum(map(counts, items))
                    complete = limit and self._written >= limit
                    if complete and stop is not None:
                        stop()
                    if (complete or self._interrupted or self._timed_out) and stop is None:
                        return
            except BaseException as error:
                from asyncio import CancelledError

                if not (self._interrupted or self._timed_out) or not isinstance(error, CancelledError):
                    raise
                self._given_up = True
            finally:
                self._reading = False
                if self._timer is not None:
                    self._timer.cancel()
                # The source may have ended in order when it was cancelled.
                if self._given_up and self._task is not None:
                    self._task.uncancel()

    def _take(self, batch: Sequence[E]) -> Sequence[E]:
        """Return the events of a batch up to the one that reaches the limit."""
        left, counts = self._end.limit - self._written, self._end.counts
        if not self._end.limit or counts is None:
            return batch[:left] if self._end.limit else batch
        before = accumulate(map(counts, batch), initial=0)
        return [event for event, number in zip(batch, before, strict=False) if number < left]

    @contextlib.contextmanager
    def _handle_interrupts(self) -> Iterator[None]:
        if self._end.endless or self._gauge is not None or self._end.idle:
            from asyncio import current_task

            self._task = current_task()
        if not self._end.endless:
            yield
            return
        watching = start(self._watch_pipe())
        try:
            with handle_signals(self._interrupt, once=True) as self._signals:
                yield
        finally:
            watching.cancel()

    async def _watch_pipe(self) -> None:
        """End the events when nobody reads them any more: the next one may not come for hours."""
        if self._events.meter is not None:
            return
        await wait_until_closed(self._out)
        self._pipe_closed = True
        self._interrupt()

    def _restart_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._end.idle and not self._timed_out:
            seconds = self._end.idle / SECOND
            self._timer = call_later(seconds, self._time_out)

    def _time_out(self) -> None:
        self._timed_out = True
        self._end_early()

    def _interrupt(self) -> None:
        self._interrupted = True
        self._end_early()

    def _end_early(self) -> None:
        if self._end.stop is None:
            self._give_up(self._written)
            return
        self._end.stop()
        call_later(_GRACE_SECONDS, self._give_up, self._written, _MAX_EXTENSIONS)

    def _give_up(self, written: int, rounds: int = 0) -> None:
        """Cancel the reading of events, unless some have arrived since `written` were; then try again, at
        most `rounds` times.
        """
        if self._task is None or not self._reading:
            return
        if rounds and self._written > written:
            call_later(_GRACE_SECONDS, self._give_up, self._written, rounds - 1)
        else:
            self._given_up = True
            self._task.cancel()

    @contextlib.asynccontextmanager
    async def _run_gauge(self) -> AsyncIterator[None]:
        gauge = self._gauge
        if gauge is None:
            yield
            return
        ticking = start(self._tick(gauge))
        try:
            if self._open_screen is None:
                yield
                return
            async with self._open_screen(gauge, self._interrupt):
                yield
        finally:
            ticking.cancel()

    async def _tick(self, gauge: "Gauge") -> None:
        while True:
            await sleep(_GAUGE_INTERVAL)
            gauge.tick()
            if not self._json and self._open_screen is None:
                self._put(clean_lines(gauge.line()))

    # -- one batch ---------------------------------------------------------------------------------------

    def _write(self, batch: Sequence[E]) -> None:
        notice = self._shown.notice
        if notice is None or self._json:
            self._write_events(batch)
            return
        for event in batch:
            if sentence := notice(event):
                self._say(sentence)
            self._write_events([event])

    def _write_text(self, batch: Sequence[E]) -> None:
        if self._title:
            self._put(clean_lines(self._title) + "\n")
            self._title = ""
        if self._width and self._shown.folds:
            texts = map(clean_lines, map(self._shown.text, batch))
            self._put("".join(_fold_event(text, self._width, self._shown.folds) for text in texts))
        else:
            run = self._shown.run
            text = run(batch) if run else "".join(map(self._shown.text, batch))
            if isinstance(text, bytes):
                with self._report_stalls():
                    write_bytes(self._out, text)
            else:
                self._put(clean_lines(text))

    def _write_snapshots(self, batch: Sequence[E]) -> None:
        if self._shown.snapshot is not None:
            for result in map(self._shown.snapshot, batch):
                self._emit(result)
            self._out.flush()

    def _write_raw(self, batch: Sequence[E]) -> None:
        if self._shown.raw is not None:
            with self._report_stalls():
                write_bytes(self._out, b"".join(map(self._shown.raw, batch)))

    def _write_values(self, batch: Sequence[E]) -> None:
        if self._delimiters is not None:
            values = [self._shown.text(event).removesuffix("\n") for event in batch]
            with self._report_stalls():
                delimited.write_values(self._shown.heading, values, self._out, self._delimiters)
                self._out.flush()
            self._delimiters = self._delimiters._replace(heading_written=True)

    def _write_json_lines(self, batch: Sequence[E]) -> None:
        end = self._shown.terminator
        self._put(clean_json("".join([_compact(record) + end for record in self._list_records(batch)])))

    def _write_json_array(self, batch: Sequence[E]) -> None:
        records = self._list_records(batch)
        if not records:
            return
        first = self._records == 0
        self._records += len(records)
        if self._shown.indent is not None:
            self._put(format_json_items(records, first=first))
        else:
            text = ",\n".join(map(_compact, records))
            self._put(clean_json(("[\n" if first else ",\n") + text))

    def _write_json_documents(self, batch: Sequence[E]) -> None:
        for record in self._list_records(batch):
            emit(Result(data=record), self._out, "json")
        self._out.flush()

    def _write_yaml(self, batch: Sequence[E]) -> None:
        for record in self._list_records(batch):
            self._records += 1
            simple = parse_json(_compact(record))
            self._put(
                format_yaml([simple]) if self._shown.layout == "array" else f"---\n{format_yaml(simple)}"
            )

    def _list_records(self, batch: Sequence[E]) -> list[Any]:
        records: list[Any] = []
        for record in map(self._shown.record, batch):
            if type(record) is tuple:
                records.extend(record)
            elif record is not None:
                records.append(record)
        return records

    def _end_document(self) -> None:
        if self._shown.heading and self._delimiters is not None and not self._delimiters.heading_written:
            self._write_values([])
        if self._json and self._shown.layout == "array" and self._events.meter is None:
            self._put("[]\n" if not self._records else "" if self._yaml else "\n]\n")

    def _close_document(self) -> None:
        """Close an array that a failure interrupts, so that what was written so far is valid JSON."""
        if self._records:
            with contextlib.suppress(OSError, ValueError):
                self._end_document()

    def _put(self, text: str) -> None:
        if text:
            with self._report_stalls():
                self._out.write(text)
                self._out.flush()

    @contextlib.contextmanager
    def _report_stalls(self) -> Iterator[None]:
        start = time.monotonic()
        yield
        elapsed = time.monotonic() - start
        if elapsed > STALLED and self._events.stalled is not None:
            self._events.stalled(elapsed)


def _fold_event(text: str, width: int, lines_to_fold: str) -> str:
    """Return an event's text with its lines folded. lines_to_fold: `all`, or `first`, which empty lines may
    precede.
    """
    from jsctl.render.fit import fold_lines  # only on a terminal

    if lines_to_fold == "all":
        return fold_lines(text, width)
    body = text.lstrip("\n")
    first, end, rest = body.partition("\n")
    return text[: len(text) - len(body)] + fold_lines(first, width) + end + rest
