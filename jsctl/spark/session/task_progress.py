"""How far Spark's jobs are, by their tasks."""

import contextlib
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EVERY = 0.25  #: seconds


@contextlib.contextmanager
def counted_tasks(spark: "SparkSession", told: Callable[[float], None]) -> Iterator[None]:
    """While it is open, call `told` with the part of the tasks of this thread that is done, from 0 to 1.

    Over Spark Connect the server tells of the tasks of all threads.
    """
    context: Any = getattr(spark, "_sc", None)
    if context is None:
        with _connected(spark, told):
            yield
        return
    group = f"jsctl-{uuid.uuid4().hex}"
    context.setJobGroup(group, "jsctl")
    ended = threading.Event()
    thread = threading.Thread(target=_poll, args=(context, group, told, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(5)
        context.setLocalProperty("spark.jobGroup.id", None)


@contextlib.contextmanager
def _connected(spark: Any, told: Callable[[float], None]) -> Iterator[None]:
    def handle(stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        known = list(stages or ())
        if total := sum(stage.num_tasks for stage in known):
            told(sum(stage.num_completed_tasks for stage in known) / total)

    spark.registerProgressHandler(handle)
    try:
        yield
    finally:
        spark.removeProgressHandler(handle)


def cancel(spark: "SparkSession") -> None:
    """End all jobs that run; what waits for them gets an error. From any thread."""
    with contextlib.suppress(Exception):  # the JVM may be gone, or Spark stopped already
        context: Any = getattr(spark, "_sc", None)
        if context is None:
            spark.interruptAll()
        else:
            context.cancelAllJobs()


def _poll(context: Any, group: str, told: Callable[[float], None], ended: threading.Event) -> None:
    with contextlib.suppress(Exception):  # the JVM may be gone; whoever runs the job says so
        tracker = context.statusTracker()
        while not ended.wait(_EVERY):
            done = total = 0
            for job in tracker.getJobIdsForGroup(group):
                info = tracker.getJobInfo(job)
                for stage in info.stageIds if info else ():
                    if known := tracker.getStageInfo(stage):
                        done += known.numCompletedTasks
                        total += known.numTasks
            if total:
                told(done / total)
