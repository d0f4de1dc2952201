"""One run of `jsctl export stream`: plan every stream, start Spark, export one stream after the other, again
and again with --follow."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, TypeVar

from jsctl.base.loops import THREAD_WAIT, wait_for_thread
from jsctl.base.units import SECOND
from jsctl.errors import ApiError, Cancelled, ExitStatus, JsctlError
from jsctl.spark.export import formats, query
from jsctl.spark.export.catalog_table import CatalogTable, TableChanged
from jsctl.spark.export.layout import TableLayout
from jsctl.spark.export.stream_exporter import StreamExporter
from jsctl.spark.export.stream_plan import Outcome, ReadPlan, Selection, StreamSource
from jsctl.spark.export.targets import TablesTarget
from jsctl.spark.session import jvm
from jsctl.spark.session.session import SessionOptions, preload
from jsctl.spark.session.task_progress import cancel_jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")

_GRACE = 15.0
"""Seconds after ctrl-C in which what is under way may end by itself. Then the JVM is ended, for which exports
are made: it may wait for a store that does not answer."""

FEW_MESSAGES = 2_000_000
FEW_BYTES = 1 << 30
"""For less than either a JVM that starts faster is better than one that runs faster."""


class Display(Protocol):
    """What people see while an export runs. Used by one thread at a time."""

    def say(self, text: str) -> None:
        """Show a sentence."""

    def progress(
        self, label: str, messages: int, size: int
    ) -> AbstractContextManager[Callable[[float], None]]:
        """Show a bar. The context is called with the share that is done, from 0 to 1."""

    def waiting(self, outcomes: Sequence[Outcome]) -> AbstractContextManager[None]:
        """Show what was exported so far, while --follow waits."""

    def exported(self, outcomes: Sequence[Outcome]) -> None:
        """Report what was exported, before the error about something that failed after it."""


@dataclass(frozen=True, slots=True)
class StreamExportOptions:
    """The options of `jsctl export stream`.

    every: ns between two looks with --follow. sql: a query to run afterwards, empty for none. limit: rows of
    its answer. session: of Spark.
    """

    sources: Sequence[StreamSource]
    selection: Selection
    layout: TableLayout
    incremental: bool
    follow: bool
    every: int
    verify: bool
    sql: str
    limit: int
    session: SessionOptions


class StreamExportResult(NamedTuple):
    """The outcome of a run. answer: of the query, None if there is none. seconds: its duration."""

    outcomes: Sequence[Outcome]
    answer: query.Answer | None
    seconds: float


@dataclass(slots=True)
class StreamExportRun:
    """One run of an export, as a context. `list_existing_tables` and then `plan` may be called before
    `run`, to ask the user and to check the options.

    Spark starts when the streams' servers have answered, or, for places that only Spark reaches, at once.
    It works in a thread of its own: a signal in the middle of a call to the JVM would break the connection
    to it.
    """

    options: StreamExportOptions
    target: TablesTarget
    display: Display
    sources: Sequence[StreamSource] = field(init=False)  #: those that exist, once planned
    _exporter: StreamExporter = field(init=False)
    _incremental: bool = field(init=False)
    _outcomes: dict[str, Outcome] = field(init=False, default_factory=dict)  #: by table
    _spark: "SparkSession | None" = field(init=False, default=None)
    _stop: threading.Event = field(init=False, default_factory=threading.Event)
    _may_finish: threading.Event = field(init=False, default_factory=threading.Event)
    """--follow was stopped, and what comes after it may run."""
    _thread: ThreadPoolExecutor = field(init=False, default_factory=lambda: ThreadPoolExecutor(1, "spark"))
    _stack: ExitStack = field(init=False, default_factory=ExitStack)

    def __post_init__(self) -> None:
        options = self.options
        self.sources = options.sources
        self._incremental = options.incremental
        self._exporter = StreamExporter(
            self.target, options.selection, options.layout, self.display.say, self.display.progress
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.submit(self._stack.close)
        self._thread.shutdown()

    def list_existing_tables(self) -> list[str]:
        """Complete or undo what killed runs left on this machine, and return the tables that exist.

        Raises JsctlError, KeyboardInterrupt.
        """
        if self.target.needs_session:
            self._run_in_thread(self._connect)
        self.target.complete_killed_runs()
        return self.target.list_existing_tables()

    def run(self) -> StreamExportResult:
        """Export. Raises JsctlError, KeyboardInterrupt."""
        begin = time.monotonic()
        if self.target.needs_session:
            answer = self._run_in_thread(self._run_locked)
        else:
            with self.target.lock():
                self._thread.submit(preload)
                plans = self.plan()
                needs_spark = self._needs_spark(plans)
                answer = self._run_in_thread(partial(self._run_with_spark, plans)) if needs_spark else None
        return StreamExportResult(self._ordered_outcomes(), answer, time.monotonic() - begin)

    def _connect(self) -> None:
        is_short = not self.options.follow
        self._spark = self._stack.enter_context(self.options.session.open(fast_start=is_short))
        self.target.connect(self._spark)

    def _run_locked(self) -> query.Answer | None:
        with self.target.lock():
            plans = self.plan()
            return self._run_with_spark(plans) if self._needs_spark(plans) else None

    def _run_in_thread(self, task: Callable[[], T]) -> T:
        work = self._thread.submit(task)
        try:
            return wait_for_thread(work)
        except KeyboardInterrupt:
            self._stop.set()
            deadline = time.monotonic() + _GRACE
            while not work.done() and not self._may_finish.is_set():
                if self._spark is None:
                    jvm.abort()
                elif time.monotonic() < deadline:
                    cancel_jobs(self._spark)
                else:
                    jvm.kill()
                wait([work], THREAD_WAIT)
            try:
                return work.result()  # it may have been done already
            except Exception:
                raise KeyboardInterrupt from None

    def plan(self) -> dict[str, ReadPlan]:
        """Return the plans by table. A stream that only some of the places have is left out there.

        Raises ApiError when no place has it, and what StreamExporter.plan raises.
        """
        plans: dict[str, ReadPlan] = {}
        errors: dict[StreamSource, ApiError] = {}
        for source in self.sources:
            try:
                plans[source.table] = self._exporter.plan(source, self._incremental)
            except ApiError as error:
                if error.status is not ExitStatus.NOT_FOUND:
                    raise
                errors[source] = error
        existing = {source.stream for source in self.sources if source.table in plans}
        for source, not_found in errors.items():
            if source.stream not in existing:
                raise not_found
            self.display.say(f"jsctl: left out: no stream for {source.table}")
        self.sources = [source for source in self.sources if source.table in plans]
        self._outcomes = {source.table: Outcome(source.stream, source.table) for source in self.sources}
        return plans

    def _run_with_spark(self, plans: Mapping[str, ReadPlan]) -> query.Answer | None:
        due = self._select_due(plans)
        if self._spark is not None:
            return self._run_in(self._spark, due)
        is_short = not self.options.follow and _is_short(plans.values())
        with self.options.session.open(fast_start=is_short) as spark:
            self._spark = spark
            return self._run_in(spark, due)

    def _select_due(self, plans: Mapping[str, ReadPlan]) -> dict[str, ReadPlan]:
        """Return the plans of streams that have something to export, in the order of the streams."""
        return {
            source.table: plans[source.table]
            for source in self.sources
            if self._has_work(source.table, plans[source.table])
        }

    def _needs_spark(self, plans: Mapping[str, ReadPlan]) -> bool:
        options = self.options
        return bool(self._select_due(plans) or options.verify or options.sql or options.follow)

    def _run_in(self, spark: "SparkSession", due: Mapping[str, ReadPlan]) -> query.Answer | None:
        self._check_stop()
        formats.check_available(spark, self.target.format)
        if self.options.sql:
            query.check_query(spark, self.options.sql)
        self._export(spark, due)
        if self.options.follow:
            self._follow(spark)
            self._may_finish.set()
        if self.options.verify:
            for source in self.sources:
                comparison = self._exporter.verify(spark, source)
                outcome = self._outcomes[source.table]
                self._outcomes[source.table] = replace(outcome, comparison=comparison)
        return self._query(spark) if self.options.sql else None

    def _has_work(self, table: str, plan: ReadPlan) -> bool:
        is_new = not self._incremental or self.target.read_checkpoint(table) is None
        return is_new or plan.start < plan.end or plan.lost > 0

    def _export(self, spark: "SparkSession", due: Mapping[str, ReadPlan]) -> None:
        for source in self.sources:
            if plan := due.get(source.table):
                self._check_stop()
                outcome = self._exporter.run(spark, source, plan, self._incremental)
                self._outcomes[source.table] = self._outcomes[source.table].plus(outcome)

    def _follow(self, spark: "SparkSession") -> None:
        """Export what is new until Ctrl-C; wait for a server that is away."""
        self._incremental = True
        self.display.say("following; Ctrl-C ends it")
        away = ""  # the table whose server is away
        while not self._wait_for_next():
            for source in self.sources:
                try:
                    plan = self._exporter.plan(source, True)
                    if self._has_work(source.table, plan):
                        self._export(spark, {source.table: plan})
                except JsctlError as error:
                    if self._stop.is_set():
                        return
                    if not (_is_away(error) or isinstance(error, TableChanged)):
                        raise
                    if not away:
                        self.display.say(f"jsctl: trying again: {error}")
                    away = source.table
                else:
                    if away == source.table:
                        self.display.say("jsctl: continuing")
                        away = ""

    def _query(self, spark: "SparkSession") -> query.Answer:
        """Query the tables. The export is complete even when the query fails, which the display then says."""
        try:
            path = self.target.path
            places = {} if isinstance(path, CatalogTable) else {"": path}  # SQL finds tables of catalogs
            return query.query(spark, places, self.options.sql, self.options.limit)
        except JsctlError:
            self.display.exported(self._ordered_outcomes())
            raise

    def _wait_for_next(self) -> bool:
        """Wait until the next round of --follow; return whether it was stopped."""
        with self.display.waiting(self._ordered_outcomes()):
            return self._stop.wait(self.options.every / SECOND)

    def _check_stop(self) -> None:
        if self._stop.is_set():
            raise Cancelled("interrupted")

    def _ordered_outcomes(self) -> list[Outcome]:
        return [self._outcomes[source.table] for source in self.sources]


def _is_short(plans: Iterable[ReadPlan]) -> bool:
    plans = list(plans)
    return sum(plan.messages for plan in plans) < FEW_MESSAGES and sum(p.bytes for p in plans) < FEW_BYTES


def _is_away(error: JsctlError) -> bool:
    """Return whether an error means that the server, or a leader, is away and may be back soon."""
    return error.status is ExitStatus.UNREACHABLE or (isinstance(error, ApiError) and error.code == 503)
