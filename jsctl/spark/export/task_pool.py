"""Tasks of an export in processes of this machine, without Spark and its JVM (`--engine arrow`).

Spark's start takes longer than a million messages take to read and write, and the tasks that read them write
the files themselves (see `table_files`). So for tables that tasks write, Spark can be left out.

One process, the parent of the tasks, imports what they need while this one plans, and then forks for each
processor: this one must not, as it has several threads. Where libraries of the system do not bear a fork,
on macOS and Windows, each process imports it again.
"""

import gc
import importlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
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

_MODULES = (
    "pyarrow.compute",
    "pyarrow.parquet",
    "jsctl.spark.source.batch_reader",
    "jsctl.spark.source.cutting",
    "jsctl.spark.export.table_files",
)
"""What tasks import."""


@dataclass(slots=True)
class TaskPool:
    """An engine without Spark (see `engines`), and its start. Its processes end with it, and with the process
    that has made it."""

    _parent: ProcessPoolExecutor = field(
        init=False, default_factory=lambda: ProcessPoolExecutor(1, get_context("spawn"), _begin)
    )
    _is_cancelled: bool = field(init=False, default=False)
    _submitting: threading.Lock = field(init=False, default_factory=threading.Lock)

    @property
    def is_here(self) -> bool:
        return True

    @property
    def spark(self) -> NoReturn:
        raise TypeError("this export runs without Spark")

    @contextmanager
    def preload(self) -> Iterator[None]:
        try:
            # A pool whose process is killed while it starts does not end it, and waits for it.
            with self._submitting, _without_interrupts():
                self._parent.submit(_import)
            _import()
            yield
        finally:
            for process in multiprocessing.active_children():
                process.kill()  # it may be importing
            self._parent.shutdown()

    def starting(self) -> AbstractContextManager[None]:
        return nullcontext()

    @contextmanager
    def open(self, *, fast_start: bool) -> Iterator[Self]:
        yield self

    def check_format(self, format: str) -> None:
        """Do nothing: there is one format."""

    def cancel(self) -> None:
        self._is_cancelled = True
        with self._submitting:
            for process in multiprocessing.active_children():
                process.terminate()

    def find_task_folders(self, path: Place | CatalogTable) -> FolderOpener | None:
        return None if isinstance(path, CatalogTable) else find_opener(path)

    def run(self, task: Callable[[int], T], count: int) -> list[T]:
        """See Engine. Raises Cancelled after `cancel`, JsctlError when a process was killed."""
        from pyspark import cloudpickle

        dumps: Callable[[object], bytes] = cloudpickle.dumps
        try:
            results: list[T] = self._parent.submit(_run_all, dumps(task), count).result()
            return results
        except BrokenProcessPool:
            if self._is_cancelled:
                raise Cancelled("interrupted") from None
            raise JsctlError(
                "a process that reads messages was killed",
                "free memory, or use --file-size for smaller tasks",
            ) from None

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
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # otherwise it starts in the block, and ends it
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
    """Leave ctrl-C to the process that has made this one, and end with it, or with SIGTERM."""
    sys.meta_path.insert(0, _WithoutPandas())
    gc.set_threshold(50_000)  # as jsctl itself (see __main__): less would take a tenth of the imports
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
        _end()

    threading.Thread(target=watch, daemon=True).start()


def _end(*_: object) -> None:
    """End this process, after those that it has made."""
    children = multiprocessing.active_children()
    for process in children:
        process.kill()
    for process in children:
        process.join()
    os._exit(1)


def _import() -> None:
    for name in _MODULES:
        with suppress(ImportError):  # what needs it says so; it does without numpy
            importlib.import_module(name)


def _run_all(content: bytes, count: int) -> list[Any]:
    """Return what a task returns for the numbers below `count`, in the parent of the tasks."""
    context = get_context("fork" if sys.platform == "linux" else "spawn")
    with ProcessPoolExecutor(_count_processors(), context, _begin) as pool:
        return [*pool.map(partial(_run, content), range(count))]


def _run(content: bytes, number: int) -> Any:
    return pickle.loads(content)(number)
