"""A run of `jsctl import`: it checks the stream, starts Spark, and publishes or previews the rows."""

import asyncio
import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from jsctl import errors
from jsctl.errors import BadInput, Cancelled, ExitStatus, JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.nats.subjects import matches
from jsctl.spark.importing.rows import ImportOptions, build_message_rows, check_headers
from jsctl.spark.session import jvm
from jsctl.spark.session.session import SessionOptions
from jsctl.spark.session.settings_box import prepare_settings_for_tasks
from jsctl.spark.session.spark_errors import (
    extract_message,
    find_damaged_file,
    find_missing_dependency,
    read_text,
)
from jsctl.spark.session.task_archive import provide_pynacl
from jsctl.spark.session.task_progress import cancel_jobs
from jsctl.spark.sink.expected_streams import fetch_writable_info
from jsctl.spark.sink.publishing import Counts, WriteJob, publish
from jsctl.spark.sink.row import Row, list_batch_rows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame


class Preview(NamedTuple):
    """A preview of an import. bytes: of payload. subjects: at most 1000, sorted."""

    messages: int
    bytes: int
    subjects: list[str]


def preview(frame: "DataFrame") -> Preview:
    """Return what would be published. Raises JsctlError."""
    from pyspark.sql import functions as F

    try:
        total = frame.agg(F.count("*").alias("n"), F.sum(F.length("data")).alias("size")).collect()[0]
        subjects = [row.subject for row in frame.select("subject").distinct().limit(1000).collect()]
    except Exception as error:
        raise task_error(error) from None
    return Preview(total.n, total.size or 0, sorted(map(str, subjects)))


def read_whole(frame: "DataFrame") -> int:
    """Read all rows to publish; return how many there are.

    Raises BadInput for a damaged file, before anything is published.
    """
    from pyspark.sql import functions as F

    try:
        read = frame.agg(F.count("*"), F.max(F.xxhash64(*frame.columns))).collect()[0]
    except Exception as error:
        if path := find_damaged_file(error):
            raise BadInput(f"{path} is damaged", "nothing was published") from None
        raise task_error(error) from None
    return int(read[0])


def publish_rows(frame: "DataFrame", job: WriteJob, write_id: str) -> Counts:
    """Publish all rows of `rows.build_message_rows`. Raises what `publishing.publish` raises."""
    from pyspark.sql.utils import is_remote

    job = replace(job, write_id=write_id)
    frame = frame.select("subject", "data", *(_build_column(frame, name) for name in ("headers", "msg_id")))
    try:
        counts = _publish_over_connect(frame, job) if is_remote() else _publish_classic(frame, job)
    except Exception as error:
        raise task_error(error) from None
    return Counts(*(sum(column) for column in zip(*counts, strict=True))) if counts else Counts()


def _build_column(frame: "DataFrame", name: str) -> "Column":
    from pyspark.sql import functions as F

    return F.col(name) if name in frame.columns else F.lit(None).cast("string").alias(name)


def _publish_classic(frame: "DataFrame", job: WriteJob) -> Sequence[Sequence[int]]:
    # mapInArrow requires pandas, which is not needed here.
    def publish_partition(partition: int, rows: Iterable[Any]) -> Iterable[Counts]:
        provide_pynacl()
        yield publish(job, partition, (Row(*row) for row in rows))

    return frame.rdd.mapPartitionsWithIndex(publish_partition).collect()


def _publish_over_connect(frame: "DataFrame", job: WriteJob) -> Sequence[Sequence[int]]:
    job = replace(job, settings=prepare_settings_for_tasks(frame.sparkSession, job.settings))

    def publish_partition(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        import pyarrow
        from pyspark import TaskContext

        provide_pynacl()
        context = TaskContext.get()
        counts = publish(job, context.partitionId() if context else 0, list_batch_rows(batches))
        row = {"published": counts.published, "duplicates": counts.duplicates, "bytes": counts.bytes}
        yield pyarrow.record_batch({name: [value] for name, value in row.items()})

    return frame.mapInArrow(publish_partition, "published long, duplicates long, bytes long").collect()


def task_error(error: Exception) -> JsctlError:
    """Return the error of a failed task: jsctl's, with its exit status, or otherwise Spark's."""
    text = read_text(error)
    if missing := find_missing_dependency(text):
        return missing
    if own_errors := re.findall(r"^\s*(?:\w+: )?jsctl\.errors\.(\w+): (.*)$", text, re.MULTILINE):
        name, message = own_errors[-1]
        raised_error = JsctlError(message.strip())
        status = getattr(getattr(errors, name, JsctlError), "status", None)
        if isinstance(status, ExitStatus):  # that of an API error depends on its code
            raised_error.status = status
        return raised_error
    other_errors = re.findall(
        r"^(?!org\.|java\.|py4j\.)((?:\w+\.)*\w+(?:Error|Exception): .+)$", text, re.MULTILINE
    )
    # The first line of an error in the JVM only names the function that was called.
    jvm_error = re.search(r"Exception: (\[[A-Z0-9_.]+\] .*)", text)
    line = extract_message(RuntimeError(jvm_error[1])) if jvm_error else extract_message(error)
    return JsctlError(f"Spark failed: {other_errors[-1] if other_errors else line}")


if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PROGRESS_INTERVAL = 0.5  #: seconds

Progress = Callable[[int], AbstractContextManager[Callable[[int], None]]]
"""Called with the total of messages; its context yields a function to be called with the number of messages
published since the last call."""


class Imported(NamedTuple):
    """The outcome of an import. seconds: its duration."""

    counts: Counts
    seconds: float


class ImportRun:
    """An import to the stream that the job names. session: of Spark."""

    def __init__(
        self, options: ImportOptions, job: WriteJob, session: SessionOptions, progress: Progress
    ) -> None:
        self._options = options
        self._job = job
        self._session = session
        self._progress = progress
        self._total = 0
        self._spark: SparkSession | None = None
        self._stopped = threading.Event()
        self._publishing = threading.Event()

    async def publish(self, api: Api) -> Imported:
        """Publish the rows. Raises NotFound, BadInput for a stream that accepts no messages, JsctlError."""
        info = await fetch_writable_info(api, self._job.stream)
        begin = time.monotonic()
        publish = partial(self._publish, info["config"])
        counts: Counts = await self._run_in_thread(publish, api, int(info["state"]["last_seq"]))
        return Imported(counts, time.monotonic() - begin)

    async def preview(self, api: Api) -> Preview:
        """Return what would be published. Raises what `publish` raises, also for subjects that the stream
        does not store."""
        info = await fetch_writable_info(api, self._job.stream)
        rows: Preview = await self._run_in_thread(partial(self._preview, info["config"]), api, 0)
        filters = info["config"].get("subjects") or []
        for subject in rows.subjects:
            if not any(matches(filter, subject) for filter in filters):
                raise BadInput(
                    f"stream {self._job.stream} does not store what is published to {subject}",
                    "--map, --prefix and --subject change subjects",
                )
        return rows

    async def _run_in_thread(self, work: Callable[[], Any], api: Api, last_sequence: int) -> Any:
        """Run work in a thread of its own, as Spark binds a session to a thread, and report the growth of the
        stream."""
        with ThreadPoolExecutor(1, "spark") as thread:
            running = asyncio.wrap_future(thread.submit(work))
            try:
                while not self._publishing.is_set() and not running.done():
                    await asyncio.wait([running], timeout=0.1)
                with self._progress(self._total) as advance:
                    while not running.done():
                        await asyncio.wait([running], timeout=_PROGRESS_INTERVAL)
                        with contextlib.suppress(JsctlError):
                            info = await api.call(f"STREAM.INFO.{self._job.stream}")
                            sequence = int(info["state"]["last_seq"])
                            advance(sequence - last_sequence)
                            last_sequence = sequence
                return await running
            except asyncio.CancelledError:
                await asyncio.to_thread(self._stop)
                await jvm.wait_for_abandoned(running)
                running.exception()  # retrieved and ignored: the stop caused it
                raise

    def _publish(self, config: Json) -> Counts:
        with self._session.open() as self._spark:
            frame, write_id = build_message_rows(self._spark, self._options)
            self._total = read_whole(frame)
            check_headers(frame, config)
            if self._stopped.is_set():
                raise Cancelled("interrupted")
            self._publishing.set()
            return publish_rows(frame, self._job, write_id)

    def _preview(self, config: Json) -> Preview:
        with self._session.open() as self._spark:
            frame, _ = build_message_rows(self._spark, self._options)
            rows = preview(frame)
            check_headers(frame, config)
            return rows

    def _stop(self) -> None:
        self._stopped.set()
        if self._spark is not None:
            cancel_jobs(self._spark)
