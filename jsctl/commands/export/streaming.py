"""One run of `jsctl export stream`: plan, Spark, every stream in turn, again and again with --follow."""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import Any

from jsctl.commands.export.shown import Shown
from jsctl.env import Env
from jsctl.errors import ApiError, Cancelled, ExitStatus, JsctlError
from jsctl.spark.export import formats
from jsctl.spark.export import query as spark_query
from jsctl.spark.export.export import Exporter, Outcome, Planned, Source
from jsctl.spark.session.session import QUICK, session
from jsctl.spark.session.task_progress import cancel
from jsctl.units import SECOND
from jsctl.views.export import export as view
from jsctl.views.result import Result

Spark = Any  #: pyspark.sql.SparkSession; only jsctl.spark knows PySpark

SMALL = 200_000  #: messages; for fewer a JVM that starts faster is better than one that runs faster


@dataclass
class Run:
    """All that the line asks for. going_on: --incremental. every: ns between two looks with --follow."""

    env: Env
    shown: Shown
    exporter: Exporter
    sources: Sequence[Source]
    going_on: bool
    follow: bool
    every: int
    verify: bool
    sql: str
    limit: int
    master: str
    remote: str
    conf: dict[str, str]
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    spark: Spark = None
    stop: threading.Event = field(default_factory=threading.Event)
    closing: threading.Event = field(default_factory=threading.Event)  #: stopped, and what is left may run

    def __call__(self) -> Result:
        """In a thread of its own: a signal in the middle of a call to the JVM would break the connection."""
        with ThreadPoolExecutor(1, "spark") as pool:
            work = pool.submit(self._work)
            try:
                return work.result()
            except KeyboardInterrupt:
                self.stop.set()
                while not work.done() and not self.closing.is_set():
                    if self.spark is not None:
                        cancel(self.spark)
                    wait([work], 0.3)
                try:
                    return work.result()  # it may have been done already
                except JsctlError:
                    raise KeyboardInterrupt from None

    def _work(self) -> Result:
        begin = time.monotonic()
        target = self.exporter.target
        with target.hold():
            plans = self.plans()
            waiting = {table: planned for table, planned in plans.items() if self._has_work(table, planned)}
            answer = None
            if waiting or self.verify or self.sql or self.follow:
                count = sum(planned.messages for planned in plans.values())
                quick = QUICK if count < SMALL and not self.follow else {}
                with session(
                    self.master, self.remote, name="jsctl export stream", conf={**quick, **self.conf}
                ) as spark:
                    self.spark = spark
                    self._check_stop()
                    formats.check(spark, target.format)
                    if self.sql:
                        spark_query.check(spark, self.sql)
                    self._export(spark, waiting)
                    if self.follow:
                        self._follow(spark)
                        self.closing.set()
                    if self.verify:
                        for source in self.sources:
                            done = self.outcomes[source.table]
                            checked = self.exporter.check(spark, source)
                            self.outcomes[source.table] = replace(done, verdict=checked)
                    if self.sql:
                        answer = self._answer(spark)
        outcomes = [self.outcomes[source.table] for source in self.sources]
        took = int((time.monotonic() - begin) * SECOND)
        result = view.streams(outcomes, str(target.path), took)
        if answer is None:
            return result
        if answer.more:
            self.env.say(f"only the first {self.limit:,} rows are shown; --limit shows more")
        return self._with_answer(result, view.answer(answer.columns, answer.rows))

    def plans(self) -> dict[str, Planned]:
        """What is to be read, by table. A stream that is missing in some of several places is left out.

        Raises ApiError when it is in none, and what Exporter.plan raises.
        """
        found: dict[str, Planned] = {}
        missing: dict[Source, ApiError] = {}
        for source in self.sources:
            try:
                found[source.table] = self.exporter.plan(source, self.going_on)
            except ApiError as error:
                if error.status is not ExitStatus.NOT_FOUND:
                    raise
                missing[source] = ApiError(
                    error.code, error.err_code, f"{source.stream}: {error.description}"
                )
        elsewhere = {source.stream for source in self.sources if source.table in found}
        for source, failure in missing.items():
            if source.stream not in elsewhere:
                raise failure
            self.shown.say(f"jsctl: left out: no stream for {source.table}")
        self.sources = [source for source in self.sources if source.table in found]
        self.outcomes = {source.table: Outcome(source.stream, source.table) for source in self.sources}
        return found

    def _has_work(self, table: str, planned: Planned) -> bool:
        is_new = not self.going_on or self.exporter.target.checkpoint(table) is None
        return is_new or planned.start < planned.end or planned.lost > 0

    def _export(self, spark: Spark, waiting: dict[str, Planned]) -> None:
        for source in self.sources:
            if planned := waiting.get(source.table):
                self._check_stop()
                done = self.exporter.run(spark, source, planned, self.going_on)
                self.outcomes[source.table] = self.outcomes[source.table].plus(done)

    def _follow(self, spark: Spark) -> None:
        """Until Ctrl-C. A server that is away is waited for."""
        self.going_on = True
        self.shown.say("following; Ctrl-C ends it")
        away = ""
        while not self._stopped():
            for source in self.sources:
                try:
                    planned = self.exporter.plan(source, True)
                    if self._has_work(source.table, planned):
                        self._export(spark, {source.table: planned})
                except JsctlError as error:
                    if self.stop.is_set():
                        return
                    if not _is_away(error):
                        raise
                    if not away:
                        self.shown.say(f"jsctl: trying again: {error}")
                    away = source.table
                else:
                    if away == source.table:
                        self.shown.say("jsctl: going on")
                        away = ""

    def _answer(self, spark: Spark) -> spark_query.Answer:
        """When the query fails the export is done nevertheless, and said to be."""
        try:
            return spark_query.query(spark, self.exporter.target.path, self.sql, self.limit)
        except JsctlError:
            self.shown.say(view.so_far(list(self.outcomes.values()), "exported"))
            raise

    def _stopped(self) -> bool:
        """Wait for the next look; what was done so far stands there meanwhile."""
        self.shown.stand(view.so_far([self.outcomes[source.table] for source in self.sources]))
        try:
            return self.stop.wait(self.every / SECOND)
        finally:
            self.shown.stand("")

    def _check_stop(self) -> None:
        if self.stop.is_set():
            raise Cancelled("interrupted")

    def _with_answer(self, result: Result, answer: Result) -> Result:
        """The table to stdout, the closing line to stderr; with --json both in one document."""
        data = dict(result.data, query=answer.data)
        if not self.env.wants_json:
            self.env.say(view.closing(result.data))
        return Result(answer.parts, data, result.status)


def _is_away(error: JsctlError) -> bool:
    """Whether the server, or a leader, may be back soon."""
    return error.status is ExitStatus.UNREACHABLE or (isinstance(error, ApiError) and error.code == 503)
