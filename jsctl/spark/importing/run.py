"""A run of `jsctl import`: it checks the stream, starts Spark, and publishes or previews the rows."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from jsctl.errors import BadInput, Cancelled, JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.nats.subjects import matches
from jsctl.spark.importing.publish_rows import Preview, preview, publish_rows, read_whole
from jsctl.spark.importing.rows import ImportOptions, build_message_rows, check_headers
from jsctl.spark.session.session import SessionOptions
from jsctl.spark.session.task_progress import cancel_jobs
from jsctl.spark.sink.expected_streams import fetch_writable_info
from jsctl.spark.sink.publishing import Counts, WriteJob

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
                await asyncio.wait([running])
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
