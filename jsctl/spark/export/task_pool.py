"""Tasks of an export in processes of this machine, without Spark and its JVM (`--engine arrow`).

Spark's start takes longer than a million messages take to read and write, and the tasks that read them write
the files themselves (see `table_files`). So for tables that tasks write, Spark can be left out.
"""

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from importlib.abc import MetaPathFinder
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NoReturn, Self, TypeVar

from jsctl.errors import Cancelled, JsctlError
from jsctl.spark.export.catalog_table import CatalogTable
from jsctl.spark.export.engines import Written
from jsctl.spark.export.task_folders import FolderOpener, find_opener
from jsctl.spark.session.hadoop import Place

T = TypeVar("T")


@dataclass(slots=True)
class TaskPool:
    """An engine without Spark (see `engines`), and its start. Its processes end with it, and with the process
    that has made it."""

    _executor: ProcessPoolExecutor = field(init=False)
    _is_cancelled: bool = field(init=False, default=False)
    _submitting: threading.Lock = field(init=False, default_factory=threading.Lock)

    @property
    def is_here(self) -> bool:
        return True

    @property
    def spark(self) -> NoReturn:
        raise TypeError("this export runs without Spark")

    def preload(self) -> None:
        import pyspark.sql.types  # noqa: F401
        from pyarrow import compute, parquet  # noqa: F401

        from jsctl.spark.source import batch_reader  # noqa: F401

    def starting(self) -> AbstractContextManager[None]:
        return nullcontext()

    @contextmanager
    def open(self, *, fast_start: bool) -> Iterator[Self]:
        self._executor = ProcessPoolExecutor(_count_processors(), get_context("spawn"), _begin)
        try:
            yield self
        finally:
            self._executor.shutdown(cancel_futures=True)

    def check_format(self, format: str) -> None:
        """Do nothing: there is one format."""

    def cancel(self) -> None:
        self._is_cancelled = True
        with self._submitting:
            for process in multiprocessing.active_children():
                process.kill()

    def find_task_folders(self, path: Place | CatalogTable) -> FolderOpener | None:
        return None if isinstance(path, CatalogTable) else find_opener(path)

    def run(self, task: Callable[[int], T], count: int) -> list[T]:
        """See Engine. Raises Cancelled after `cancel`, JsctlError when a process was killed."""
        from pyspark import cloudpickle

        dumps: Callable[[object], bytes] = cloudpickle.dumps
        content = dumps(task)
        futures: list[Future[T]] = []
        try:
            # A pool whose process is killed while it starts another one does not end that, and waits for it.
            with self._submitting, _without_interrupts():
                futures += [self._executor.submit(_run, content, number) for number in range(count)]
            return [future.result() for future in futures]
        except BrokenProcessPool:
            if self._is_cancelled:
                raise Cancelled("interrupted") from None
            raise JsctlError(
                "a process that reads messages was killed",
                "free memory, or use --file-size for smaller tasks",
            ) from None
        finally:
            for future in futures:
                future.cancel()

    def check_visible(self, written: Written, rows: int) -> None:
        """Do nothing: it was written here."""

    def count_rows(self, written: Written, start: int, end: int) -> int:
        from pyarrow import compute, dataset

        files = [str(file) for file in Path(str(written.folder)).rglob("*.parquet")]
        sequence = compute.field("sequence")
        rows = dataset.dataset(files, format="parquet").count_rows(
            filter=(sequence >= start) & (sequence < end)
        )
        return int(rows)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Keep ctrl-C from processes that this thread starts in the block, also while Python starts in them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _count_processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _WithoutPandas(MetaPathFinder):
    """Pandas is not found: pyarrow imports it for its first value if it is there, which takes a second."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def _begin() -> None:
    """Leave ctrl-C to the process that has made this one, and end with it."""
    sys.meta_path.insert(0, _WithoutPandas())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _run(content: bytes, number: int) -> Any:
    return pickle.loads(content)(number)
