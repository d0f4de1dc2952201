"""Spark beside an event loop: a session in a thread of its own, which starts while others are asked."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TypeVar

from jsctl.errors import Cancelled
from jsctl.spark.export.tables import TableSchema
from jsctl.spark.export.target import Target
from jsctl.spark.export.write import Rows, append
from jsctl.spark.session.session import QUICK, session

T = TypeVar("T")


class Writer:
    """`async with Writer(...) as writer: await writer.write(rows)`. Entering does not wait for Spark; the
    first write does. `rows`: what was written so far, by table."""

    def __init__(
        self, target: Target, schemas: Mapping[str, TableSchema], master: str = "", remote: str = ""
    ) -> None:
        self.target = target
        self.rows = dict.fromkeys(schemas, 0)
        self._schemas = schemas
        self._master = master
        self._remote = remote
        self._thread = ThreadPoolExecutor(1, "spark")  # Spark binds a session to a thread
        self._stack = ExitStack()
        self._abandoned = threading.Event()

    async def __aenter__(self) -> "Writer":
        self._session = self._thread.submit(self._open)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind:
            self._abandoned.set()
        # Not to be interrupted: it ends the JVM.
        await asyncio.shield(self._do(self._stack.close))
        self._thread.shutdown()

    async def write(self, rows: Rows) -> None:
        """Append rows, by table, to the target: all or none. Raises JsctlError."""
        for name, count in (await self._do(lambda: self._append(rows))).items():
            self.rows[name] += count

    def _open(self) -> None:
        self._spark = self._stack.enter_context(
            session(self._master, self._remote, name="jsctl export", conf=QUICK)
        )
        self.target.recover()

    def _append(self, rows: Rows) -> dict[str, int]:
        self._session.result()
        return append(self._spark, self.target, self._schemas, rows, self._check)

    def _check(self) -> None:
        if self._abandoned.is_set():
            raise Cancelled("interrupted")

    async def _do(self, work: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._thread.submit(work))
