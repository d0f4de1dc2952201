"""One run of `jsctl export stream`: plan every stream, start Spark, export one stream after the other, again
and again with --follow; then compare and query.

Who calls what in which thread: the verb calls the public methods, in the main thread, which shows a question
meanwhile and gets the signals. What needs the engine runs in the engine's thread (see `engine_thread`), while
the main thread waits: `_open_target`, `_export_due` and `_finish`; and `_plan` and `_lock_and_plan` if only
the engine reaches the tables. Other than that, `_plan` runs in the main thread, while the engine's thread
imports what it needs (`preload`).

Ctrl-C ends `_export_due` with an error, which the main thread makes a KeyboardInterrupt; --follow it ends
without one, and `_finish` comes next, as without ctrl-C. The lock and the engine are left by `__exit__`.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, TypeVar

from jsctl.base.units import SECOND
from jsctl.errors import ApiError, Cancelled, ExitStatus, JsctlError
from jsctl.spark.export import query
from jsctl.spark.export.catalog_table import CatalogTable, TableChanged
from jsctl.spark.export.engine_thread import EngineThread
from jsctl.spark.export.engines import Engine, EngineStart
from jsctl.spark.export.layout import TableLayout
from jsctl.spark.export.stream_exporter import StreamExporter
from jsctl.spark.export.stream_plan import Outcome, ReadPlan, Selection, StreamSource
from jsctl.spark.export.targets import TablesTarget

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")

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

    backfill: write a range of existing tables again. every: ns between two looks with --follow. sql: a query
    to run afterwards, empty for none. limit: rows of its answer. start: of what runs the tasks.
    """

    sources: Sequence[StreamSource]
    selection: Selection
    layout: TableLayout
    incremental: bool
    backfill: bool
    follow: bool
    every: int
    verify: bool
    sql: str
    limit: int
    start: EngineStart


class StreamExportResult(NamedTuple):
    """The outcome of a run. failures: of the streams that failed, by table. answer: of the query, None if
    there is none. seconds: its duration."""

    outcomes: Sequence[Outcome]
    failures: Mapping[str, JsctlError]
    answer: query.Answer | None
    seconds: float


@dataclass(slots=True)
class StreamExportRun:
    """One run of an export, as a context. `list_existing_tables` and then `plan` may be called before
    `run`, to ask the user and to check the options.

    The engine starts when the streams' servers have answered, or, for places that only Spark reaches, at
    once.
    """

    options: StreamExportOptions
    target: TablesTarget
    display: Display
    sources: Sequence[StreamSource] = field(init=False)  #: those that are not left out, once planned
    failures: dict[str, JsctlError] = field(init=False, default_factory=dict)  #: by table
    _exporter: StreamExporter = field(init=False)
    _incremental: bool = field(init=False)
    _outcomes: dict[str, Outcome] = field(init=False, default_factory=dict)  #: by table
    _thread: EngineThread = field(init=False, default_factory=EngineThread)

    def __post_init__(self) -> None:
        options = self.options
        self.sources = options.sources
        self._incremental = options.incremental
        self._exporter = StreamExporter(
            self.target,
            options.selection,
            options.layout,
            self.display.say,
            self.display.progress,
            options.backfill,
        )

    def __enter__(self) -> Self:
        self._thread.__enter__()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._thread.__exit__(kind)

    def list_existing_tables(self) -> list[str]:
        """Complete or undo what killed runs left on this machine, and return the tables that exist.

        Raises JsctlError, KeyboardInterrupt.
        """
        return self._reach_tables(self._open_target)

    def plan(self) -> dict[str, ReadPlan]:
        """Return the plans by table. A stream that only some of the places have is left out there, and one
        of several that cannot be planned is a failure, which is shown.

        Raises what StreamExporter.plan raises when no stream can be exported; KeyboardInterrupt.
        """
        return self._reach_tables(self._plan)

    def run(self) -> StreamExportResult:
        """Export. Raises JsctlError, KeyboardInterrupt."""
        begin, options = time.monotonic(), self.options
        if self.target.needs_session:
            plans = self._reach_tables(self._lock_and_plan)
        else:
            with options.start.starting():
                self._thread.begin(lambda: self._thread.enter(options.start.preload()))
                plans = self._lock_and_plan()
        answer = None
        due = self._select_due(plans)
        if due or options.verify or options.sql or options.follow:
            is_short = not options.follow and _is_short(plans.values())
            self._thread.run(partial(self._export_due, due, is_short))
            if options.verify or options.sql:
                answer = self._thread.run(self._finish)
        duration = time.monotonic() - begin
        return StreamExportResult(self._ordered_outcomes(), dict(self.failures), answer, duration)

    def _reach_tables(self, work: Callable[[], T]) -> T:
        """Run what reads the tables where they can be reached."""
        return self._thread.run(work) if self.target.needs_session else work()

    def _open_target(self) -> list[str]:
        if self.target.needs_session:
            engine = self._thread.open(self.options.start, fast_start=not self.options.follow)
            self.target.connect(engine.spark)
        self.target.complete_killed_runs()
        return self.target.list_existing_tables()

    def _lock_and_plan(self) -> dict[str, ReadPlan]:
        self._thread.enter(self.target.lock())
        return self._plan()

    def _plan(self) -> dict[str, ReadPlan]:
        plans: dict[str, ReadPlan] = {}
        errors: dict[StreamSource, JsctlError] = {}
        for source in self.options.sources:
            try:
                plans[source.table] = self._exporter.plan(source, self._incremental)
                self.failures.pop(source.table, None)
            except JsctlError as error:
                errors[source] = error
        if not plans:
            raise next(iter(errors.values()))
        existing = {source.stream for source in self.options.sources if source.table in plans}
        absent = {
            source
            for source, reason in errors.items()
            if reason.status is ExitStatus.NOT_FOUND and source.stream in existing
        }
        for source, reason in errors.items():
            if source in absent:
                self.display.say(f"jsctl: left out: no stream for {source.table}")
            else:
                self._record_failure(source, reason)
        self.sources = [source for source in self.options.sources if source not in absent]
        self._outcomes = {source.table: Outcome(source.stream, source.table) for source in self.sources}
        return plans

    def _record_failure(self, source: StreamSource, error: JsctlError) -> None:
        """Record and show why one of several streams is not exported."""
        if str(self.failures.get(source.table)) != str(error):
            self.display.say(f"jsctl: error: {source.table}: {error}")
        self.failures[source.table] = error

    def _isolate(self, source: StreamSource, work: Callable[[], None]) -> None:
        """Run the work for a stream. An error of one of several is a failure, and does not end the others.

        Raises JsctlError of a single one, or after an interrupt.
        """
        try:
            work()
        except JsctlError as error:
            if len(self.sources) == 1 or self._thread.stop.is_set():
                raise
            self._record_failure(source, error)

    def count_only_here(self, plans: Mapping[str, ReadPlan], tables: Sequence[str]) -> int:
        """Return how many rows of these tables, at most, are of messages that their streams no longer
        have."""
        count = 0
        for table in tables:
            checkpoint = self.target.read_checkpoint(table) or {}
            plan, rows = plans.get(table), int(checkpoint.get("exported", 0))
            if plan is not None and plan.created == checkpoint.get("created"):
                rows = min(rows, max(0, min(plan.head, int(checkpoint["next"])) - int(checkpoint["from"])))
            count += rows
        return count

    def _select_due(self, plans: Mapping[str, ReadPlan]) -> dict[str, ReadPlan]:
        """Return the plans of streams that have something to export, in the order of the streams."""
        return {
            source.table: plans[source.table]
            for source in self.sources
            if source.table in plans and self._has_work(source.table, plans[source.table])
        }

    def _export_due(self, due: Mapping[str, ReadPlan], is_short: bool) -> None:
        engine = self._thread.open(self.options.start, fast_start=is_short)
        self._check_stop()
        engine.check_format(self.target.format)
        if self.options.sql:
            sql = query.check_query(engine.spark, self.options.sql)
            query.check_tables(engine.spark, sql, self.target.path, self.target.tables)
        self._export(engine, due)
        if self.options.follow:
            self._follow(engine)

    def _finish(self) -> query.Answer | None:
        """Compare and query the tables."""
        if not self.options.follow:
            self._check_stop()
        spark = self._thread.open(self.options.start, fast_start=True).spark
        if self.options.verify:
            for source in self.sources:
                if source.table not in self.failures:
                    self._isolate(source, partial(self._verify, spark, source))
        return self._query(spark) if self.options.sql else None

    def _verify(self, spark: "SparkSession", source: StreamSource) -> None:
        comparison = self._exporter.verify(spark, source)
        self._outcomes[source.table] = replace(self._outcomes[source.table], comparison=comparison)

    def _has_work(self, table: str, plan: ReadPlan) -> bool:
        is_new = self.options.backfill or not self._incremental or self.target.read_checkpoint(table) is None
        return is_new or plan.start < plan.end or plan.lost > 0

    def _export(self, engine: Engine, due: Mapping[str, ReadPlan]) -> None:
        for source in self.sources:
            if plan := due.get(source.table):
                self._check_stop()
                self._isolate(source, partial(self._export_one, engine, source, plan))

    def _export_one(self, engine: Engine, source: StreamSource, plan: ReadPlan) -> None:
        outcome = self._exporter.run(engine, source, plan, self._incremental)
        self._outcomes[source.table] = self._outcomes[source.table].merge(outcome)

    def _follow(self, engine: Engine) -> None:
        """Export what is new until Ctrl-C; wait for a server that is away."""
        self._incremental = True
        self._exporter = replace(self._exporter, selection=self.options.selection.with_checkpoint())
        self.display.say("following; Ctrl-C ends it")
        away: dict[str, str] = {}  #: tables whose servers are away, with the errors
        while not self._wait_for_next():
            for source in self.sources:
                try:
                    plan = self._exporter.plan(source, True)
                    if self._has_work(source.table, plan):
                        self._export_one(engine, source, plan)
                except JsctlError as error:
                    if self._thread.stop.is_set():
                        return
                    if _is_away(error) or isinstance(error, TableChanged):
                        if str(error) not in away.values():
                            self.display.say(f"jsctl: trying again: {error}")
                        away[source.table] = str(error)
                    elif len(self.sources) == 1:
                        raise
                    else:
                        self._record_failure(source, error)
                else:
                    self.failures.pop(source.table, None)
                    if away.pop(source.table, "") and not away:
                        self.display.say("jsctl: continuing")

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
            return self._thread.stop.wait(self.options.every / SECOND)

    def _check_stop(self) -> None:
        if self._thread.stop.is_set():
            raise Cancelled("interrupted")

    def _ordered_outcomes(self) -> list[Outcome]:
        return [self._outcomes[source.table] for source in self.sources]


def _is_short(plans: Iterable[ReadPlan]) -> bool:
    plans = list(plans)
    return sum(plan.messages for plan in plans) < FEW_MESSAGES and sum(p.bytes for p in plans) < FEW_BYTES


def _is_away(error: JsctlError) -> bool:
    """Return whether an error means that the server, or a leader, is away and may be back soon."""
    return error.status is ExitStatus.UNREACHABLE or (isinstance(error, ApiError) and error.code == 503)
