"""The progress of streaming queries: how far they are behind their streams, and what they lost.

    from jsctl.spark import progress

    progress.listen(spark, to="/shared/progress", prometheus="/var/lib/node_exporter/spark.prom")

`to` is a folder: its table `spark_queries` (Parquet) gets a row for each batch and stream, for SQL and
`jsctl export query`; `jsctl report --spark FOLDER` shows the newest rows. `prometheus` is a file for the
textfile collector of node_exporter; it is replaced at each step.
"""

import contextlib
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from jsctl.base.files import open_atomically, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.base.units import SECOND, parse_time_ns
from jsctl.monitor.report.spark_queries import LATEST, SparkQuery, encode_queries
from jsctl.spark.session.folders import parse_folder
from jsctl.spark.source.failures import log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = "spark_queries"
FLUSH_ROWS, FLUSH_SECONDS = 1000, 60
"""Number of rows, or seconds, after which the table gets another file."""

_METRICS = (
    ("behind", "messages_behind", "gauge", "Sequences that the stream has beyond the last batch."),
    ("rate", "rows_per_second", "gauge", "Rows per second that the query reads while it works."),
    ("drain_seconds", "drain_seconds", "gauge", "Time until the query has caught up; +Inf for never."),
    ("lost", "lost_messages_total", "counter", "Messages that the stream dropped before they were read."),
    ("deleted", "deleted_messages_total", "counter", "Messages that were deleted before they were read."),
    ("batch", "batch", "gauge", "Number of the last batch."),
    ("running", "running", "gauge", "1 while the query runs, 0 when it ended or failed."),
    ("seconds", "progress_timestamp_seconds", "gauge", "When the last progress came."),
)
"""Metrics: key, name without prefix, type, help."""

_RUNNING, _ENDED, _FAILED = "running", "ended", "failed"


def listen(spark: "SparkSession", *, to: str = "", prometheus: str = "") -> "ProgressListener":
    """Add a listener to the queries of a session; return it, for `spark.streams.removeListener`.

    Args:
        to: folder for a table of their progress, a path or file:///...
        prometheus: file for node_exporter's textfile collector.

    Raises BadInput for places that are not in a file system of this machine.
    """
    folder = parse_folder(to, "to") if to else None
    listener = ProgressListener(folder, parse_folder(prometheus, "prometheus") if prometheus else None)
    spark.streams.addListener(listener)
    return listener


class ProgressListener(StreamingQueryListener):
    """A listener that writes the progress of queries that read streams. Errors of writing are only logged."""

    def __init__(self, folder: Path | None = None, text_file: Path | None = None) -> None:
        self._folder = folder
        self._text_file = text_file
        self._queries: dict[str, dict[str, SparkQuery]] = {}  #: by run, by stream
        self._ends: dict[tuple[str, str], tuple[int, int]] = {}  #: by run and stream: (ns, newest sequence)
        self._rows: list[SparkQuery] = []
        self._flushed = time.monotonic()
        self._lock = threading.Lock()

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        """Ignore the start of a query: there is no progress yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        self._run_guarded(lambda: self.take(parse_json(event.progress.json)))

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        """Ignore idle queries: they report progress, too, every ten seconds."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        self._run_guarded(lambda: self.end(str(event.runId), event.exception or ""))

    def take(self, progress: Mapping[str, Any]) -> None:
        """Record and write a step of a query. progress: a `StreamingQueryProgress` as JSON."""
        run = str(progress["runId"])
        queries = self._queries.get(run, {})
        for source in progress.get("sources") or ():
            end, latest = _parse_offset(source.get("endOffset")), _parse_offset(source.get("latestOffset"))
            for stream, offset in end.items():
                queries[stream] = self._step(
                    progress, source, stream, offset, latest.get(stream, offset), queries.get(stream)
                )
        if queries:
            if run not in self._queries:
                self._forget(next(iter(queries.values())).query)
            self._queries[run] = queries
            self._rows += queries.values()
            self._write(run)

    def end(self, run: str, error: str) -> None:
        """Record and write the end of a query. error: empty if it did not fail."""
        queries = self._queries.get(run)
        if not queries:
            return
        state = _FAILED if error else _ENDED
        lines = [line for line in error.splitlines() if line.strip()]
        for stream, query in queries.items():
            queries[stream] = replace(query, state=state, error=lines[0][:300] if lines else "")
        self._rows += queries.values()
        self._flushed = 0.0
        self._write(run)

    def list_queries(self) -> list[SparkQuery]:
        """Return the newest progress of all queries."""
        return [query for group in self._queries.values() for query in group.values()]

    def _forget(self, query: str) -> None:
        """Drop the runs of a query: the next one has the same metrics."""
        ended = [
            run for run, group in self._queries.items() if query in {one.query for one in group.values()}
        ]
        for run in ended:
            for stream in self._queries.pop(run):
                self._ends.pop((run, stream), None)

    def _run_guarded(self, work: Callable[[], None]) -> None:
        with self._lock:
            try:
                work()
            except Exception as error:  # a listener must not end the query
                log.warning("jsctl: the progress of a query is not written: %s", error)

    def _step(
        self,
        progress: Mapping[str, Any],
        source: Mapping[str, Any],
        stream: str,
        offset: Mapping[str, Any],
        latest: Mapping[str, Any],
        previous: SparkQuery | None,
    ) -> SparkQuery:
        run, at = str(progress["runId"]), str(progress["timestamp"])
        moment, newest = parse_time_ns(at), int(latest["next"])
        earlier = self._ends.get((run, stream))
        self._ends[run, stream] = moment, newest
        arrival = None
        if earlier and moment > earlier[0]:
            arrival = max(0, newest - earlier[1]) * SECOND / (moment - earlier[0])
        rate = float(source.get("processedRowsPerSecond") or 0)
        behind = max(0, newest - int(offset["next"]))
        # An empty batch has the end offset of the previous one.
        is_new = previous is None or int(progress["batchId"]) != previous.batch
        return SparkQuery(
            query=str(progress.get("name") or progress["id"]),
            id=str(progress["id"]),
            stream=stream,
            at=at,
            batch=int(progress["batchId"]),
            rows=int(source.get("numInputRows") or 0),
            behind=behind,
            rate=rate,
            arrival=arrival,
            drain_ns=_estimate_drain(behind, rate, arrival),
            lost=(previous.lost if previous else 0) + (int(offset.get("lost") or 0) if is_new else 0),
            deleted=(previous.deleted if previous else 0)
            + (int(offset.get("deleted") or 0) if is_new else 0),
        )

    # -- writing ------------------------------------------------------------------------------------

    def _write(self, run: str) -> None:
        if self._folder:
            latest = self._folder / LATEST
            latest.mkdir(parents=True, exist_ok=True)
            queries = list(self._queries[run].values())
            write_atomically(latest / f"{queries[0].id}.json", encode_queries(queries), mode=None)
            is_due = time.monotonic() - self._flushed >= FLUSH_SECONDS
            if is_due or len(self._rows) >= FLUSH_ROWS:
                self.flush()
        if self._text_file:
            write_atomically(self._text_file, format_prometheus_text(self.list_queries()), mode=None)

    def flush(self) -> None:
        """Write the pending rows to the table."""
        self._flushed = time.monotonic()
        if not self._folder or not self._rows:
            return
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows, self._rows = self._rows, []
        types = [
            *((name, pa.string()) for name in ("query", "id", "stream")),
            ("at", pa.timestamp("us", tz="UTC")),
            *((name, pa.int64()) for name in ("batch", "rows", "behind")),
            *((name, pa.float64()) for name in ("rate", "arrival")),
            *((name, pa.int64()) for name in ("drain_ns", "lost", "deleted")),
            *((name, pa.string()) for name in ("state", "error")),
        ]
        values = [{**row.record(), "at": parse_time_ns(row.at) // 1000} for row in rows]
        table = pa.Table.from_pylist(values, pa.schema(types))
        folder = self._folder / TABLE
        folder.mkdir(parents=True, exist_ok=True)
        with open_atomically(folder / f"part-{uuid.uuid4().hex}.parquet", mode=None) as file:
            pq.write_table(table, file)


def format_prometheus_text(queries: Sequence[SparkQuery]) -> str:
    """Return metrics in Prometheus' text format."""
    lines = []
    for key, name, kind, text in _METRICS:
        lines += [f"# HELP jsctl_spark_{name} {text}", f"# TYPE jsctl_spark_{name} {kind}"]
        for query in queries:
            value = _format_metric(query, key)
            if value is not None:
                labels = f'query="{_escape(query.query)}",stream="{_escape(query.stream)}"'
                lines.append(f"jsctl_spark_{name}{{{labels}}} {value}")
    return "\n".join([*lines, ""])


def _format_metric(query: SparkQuery, key: str) -> str | None:
    match key:
        case "drain_seconds":
            if query.drain_ns is None:
                return None
            return "+Inf" if query.drain_ns < 0 else f"{query.drain_ns / SECOND:g}"
        case "running":
            return str(int(query.state == _RUNNING))
        case "seconds":
            return f"{parse_time_ns(query.at) / SECOND:.3f}"
        case _:
            return f"{getattr(query, key):g}" if key == "rate" else str(getattr(query, key))


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _estimate_drain(behind: int, rate: float, arrival: float | None) -> int | None:
    """Return the ns until nothing is left to read; -1 for never, None if unknown."""
    if not behind:
        return 0
    if not rate:
        return None
    net = rate - (arrival or 0.0)
    return round(behind / net * SECOND) if net > 0 else -1


def _parse_offset(offset: Any) -> dict[str, Mapping[str, Any]]:
    """Return a source's offset by stream; empty for other sources."""
    with contextlib.suppress(ValueError):
        offset = parse_json(offset) if isinstance(offset, str) else offset
    if not isinstance(offset, dict):
        return {}
    parts = offset.get("streams", {offset.get("stream", ""): offset})
    return {
        str(name): part
        for name, part in parts.items()
        if isinstance(part, dict) and {"created", "next"} <= set(part)
    }
