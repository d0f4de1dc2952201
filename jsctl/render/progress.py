"""A progress bar for long counted work, on a terminal."""

import time
from types import TracebackType
from typing import Any, Self, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from jsctl.base.units import SECOND, format_bytes, format_duration
from jsctl.render.text import clean

_INTERVAL = 0.1
"""Seconds between two updates: drawing takes longer than publishing a thousand messages."""


class _Rate(ProgressColumn):
    """A column with the rate, such as `120 MiB/s`."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{format_bytes(int(speed))}/s")


class _TimeLeft(ProgressColumn):
    """A column with the time that the rest will take, such as `1m20s left`."""

    def render(self, task: Task) -> Text:
        left = task.time_remaining
        return Text("" if not left else f"{format_duration(int(left) * SECOND)} left")


class ErasedBar:
    """A bar with its label and the elapsed time, as a context manager. It is erased at the end.

    columns: between label and time. attrs: of rich's Progress.
    """

    def __init__(self, out: TextIO, *columns: ProgressColumn, **attrs: Any) -> None:
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            *columns,
            TimeElapsedColumn(),
            console=Console(file=out, force_terminal=True, markup=False, highlight=False, emoji=False),
            **attrs,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()


class Bar(ErasedBar):
    """A progress bar of counted work.

    in_bytes: the steps are bytes, shown with their rate and the time left.
    """

    def __init__(self, out: TextIO, label: str, total: int, *, in_bytes: bool = False) -> None:
        amount: list[ProgressColumn] = (
            [DownloadColumn(binary_units=True), _Rate(), _TimeLeft()] if in_bytes else [MofNCompleteColumn()]
        )
        super().__init__(out, BarColumn(), *amount, auto_refresh=False)
        self._task = self._progress.add_task(clean(label), total=total)
        self._done = 0
        self._drawn = 0.0

    def advance(self, steps: int = 1) -> None:
        """Add steps that are done."""
        self._done += steps
        now = time.monotonic()
        if now - self._drawn >= _INTERVAL:
            self._drawn = now
            self._progress.update(self._task, completed=self._done)
            self._progress.refresh()
