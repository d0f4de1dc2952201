"""A writer that appends rows to the tables of an export, in a Spark session in its own thread."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypeVar

from jsctl.errors import Cancelled, JsctlError
from jsctl.spark.export.table_files import append_by_date
from jsctl.spark.export.table_schema import TableSchema
from jsctl.spark.export.targets import FolderTarget
from jsctl.spark.session import jvm
from jsctl.spark.session.hadoop import Place
from jsctl.spark.session.session import SessionOptions
from jsctl.spark.session.spark_errors import extract_message

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")

Rows = Mapping[str, Iterable[Mapping[str, Any]]]
"""Rows by table; a row is values by column name."""


class TableWriter:
    """A writer of rows: `async with TableWriter(...) as writer: await writer.write(rows)`.

    Entering starts Spark without waiting for it; the first write waits. rows: number of rows written so far,
    by table.
    """

    def __init__(
        self, target: FolderTarget, schemas: Mapping[str, TableSchema], session: SessionOptions
    ) -> None:
        self.target = target
        self.rows = dict.fromkeys(schemas, 0)
        self._schemas = schemas
        self._options = session
        self._thread = ThreadPoolExecutor(1, "spark")  # Spark binds a session to a thread
        self._stack = ExitStack()
        self._abandoned = threading.Event()

    async def __aenter__(self) -> "TableWriter":
        self._session = self._thread.submit(self._open)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind:
            self._abandoned.set()
        closing = asyncio.wrap_future(self._thread.submit(self._stack.close))
        if kind:
            await jvm.wait_for_abandoned(closing)
        # Shielded from cancellation, as it ends the JVM.
        await asyncio.shield(closing)
        self._thread.shutdown()

    async def write(self, rows: Rows) -> None:
        """Append rows, by table, to the target: all or none. Raises JsctlError."""
        for name, count in (await self._do(lambda: self._append(rows))).items():
            self.rows[name] += count

    def _open(self) -> None:
        self._spark = self._stack.enter_context(self._options.open())
        self.target.connect(self._spark)
        self.target.recover()

    def _append(self, rows: Rows) -> dict[str, int]:
        self._session.result()
        return append(self._spark, self.target, self._schemas, rows, self._check)

    def _check(self) -> None:
        if self._abandoned.is_set():
            raise Cancelled("interrupted")

    async def _do(self, work: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._thread.submit(work))


def append(
    spark: "SparkSession",
    target: FolderTarget,
    schemas: Mapping[str, TableSchema],
    rows: Rows,
    check: Callable[[], None] = lambda: None,
) -> dict[str, int]:
    """Append rows to tables in one step: to all or to none. Return the number of rows written by table.

    Args:
        check: called before the rows are moved into place; when it raises, the write is undone.

    Raises JsctlError when Spark cannot write, or writes where this machine does not see it.
    """
    written: dict[str, int] = {}
    with target.stage() as folder:
        for name, schema in schemas.items():
            table = schema.to_arrow(rows.get(name, ()))
            written[name] = table.num_rows
            if table.num_rows:
                _write(spark, table, target.format, folder / name)
        check()
    return written


def _write(spark: "SparkSession", table: Any, format: str, folder: Place) -> None:
    try:
        append_by_date(spark, table, format, folder)
    except JsctlError:
        raise
    except Exception as error:
        path = str(folder).rpartition("/")[0].partition("/.staging")[0]
        raise JsctlError(f"Spark cannot write to {path}: {extract_message(error)}") from None
