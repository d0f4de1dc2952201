"""A progress bar for long counted work, on a terminal."""

import time
from types import TracebackType
from typing import TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TransferSpeedColumn,
)

from jsctl.render.text import clean

_EVERY = 0.1
"""Seconds between two pictures: redrawing at every message makes the work seven times slower."""


class Bar:
    """A context manager; `advance` as the work goes on. It leaves nothing behind.

    in_bytes: the steps are bytes, shown with their rate.
    """

    def __init__(self, out: TextIO, label: str, total: int, *, in_bytes: bool = False) -> None:
        amount: list[ProgressColumn] = (
            [DownloadColumn(binary_units=True), TransferSpeedColumn()] if in_bytes else [MofNCompleteColumn()]
        )
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            *amount,
            TimeElapsedColumn(),
            console=Console(file=out, force_terminal=True, markup=False, highlight=False, emoji=False),
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._progress.add_task(clean(label), total=total)
        self._done = 0
        self._drawn = 0.0

    def __enter__(self) -> "Bar":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def advance(self, steps: int = 1) -> None:
        """So many more are done."""
        self._done += steps
        now = time.monotonic()
        if now - self._drawn >= _EVERY:
            self._drawn = now
            self._progress.update(self._task, completed=self._done)
            self._progress.refresh()
