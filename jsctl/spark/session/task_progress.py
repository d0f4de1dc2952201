"""The context of a session, and the jobs in it: their progress, counted in finished tasks, and their end."""

import contextlib
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_INTERVAL = 0.25  #: seconds


def find_context(spark: "SparkSession") -> Any:
    """Return a session's SparkContext; None with Spark Connect, whose sessions have none."""
    return getattr(spark, "sparkContext", None)


@contextlib.contextmanager
def report_task_progress(spark: "SparkSession", advance: Callable[[float], None]) -> Iterator[None]:
    """Call `advance` with the share of this thread's tasks that is done, from 0 to 1, while the context is
    open.

    A Spark Connect server counts the tasks of all threads.
    """
    advance(0)
    context = find_context(spark)
    if context is None:
        with _report_over_connect(spark, advance):
            yield
        return
    group = f"jsctl-{uuid.uuid4().hex}"
    context.setJobGroup(group, "jsctl")
    try:
        with report_repeatedly(lambda: _report_tasks(context, group, advance)):
            yield
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)


@contextlib.contextmanager
def report_repeatedly(report: Callable[[], None]) -> Iterator[None]:
    """Run `report` several times a second. Its errors end that: the failing job reports them."""
    ended = threading.Event()

    def poll() -> None:
        with contextlib.suppress(Exception):  # the JVM may be gone
            while not ended.wait(_INTERVAL):
                report()

    thread = threading.Thread(target=poll, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(5)


@contextlib.contextmanager
def _report_over_connect(spark: Any, report: Callable[[float], None]) -> Iterator[None]:
    def handle(stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        stages = list(stages or ())
        if total := sum(stage.num_tasks for stage in stages):
            report(sum(stage.num_completed_tasks for stage in stages) / total)

    spark.registerProgressHandler(handle)
    try:
        yield
    finally:
        spark.removeProgressHandler(handle)


def cancel_jobs(spark: "SparkSession") -> None:
    """End all running jobs; what waits for them gets an error. May be called from any thread."""
    with contextlib.suppress(Exception):  # the JVM may be gone, or Spark stopped already
        context = find_context(spark)
        if context is None:
            spark.interruptAll()
        else:
            context.cancelAllJobs()


def _report_tasks(context: Any, group: str, advance: Callable[[float], None]) -> None:
    tracker = context.statusTracker()
    done = total = 0
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info else ():
            if progress := tracker.getStageInfo(stage):
                done += progress.numCompletedTasks
                total += progress.numTasks
    if total:
        advance(done / total)
