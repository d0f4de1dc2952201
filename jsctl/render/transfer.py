"""Progress of message transfers on a terminal: their number, bytes, rate and the remaining time."""

import threading
import time
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, TextColumn

from jsctl.base.units import SECOND, format_bytes, format_count, format_duration
from jsctl.render.progress import ErasedBar
from jsctl.render.text import clean


class Transfer(ErasedBar):
    """A progress bar of a transfer.

    messages, size: the totals, size in bytes; 0 for an unknown one.
    """

    def __init__(self, out: TextIO, label: str, messages: int, size: int) -> None:
        self._messages = messages
        self._size = size
        self._start = time.monotonic()
        self._part = 0.0
        self._lock = threading.Lock()
        numbers = TextColumn("{task.fields[numbers]}", markup=False)
        super().__init__(out, BarColumn(bar_width=24), numbers, refresh_per_second=4)
        self._task = self._progress.add_task(clean(label), total=1.0, numbers=self.numbers(0.0))

    def set_share(self, part: float) -> None:
        """Set the share that is done, from 0 to 1; may be called from any thread.

        The bar never moves backwards, even when Spark adds tasks while others end.
        """
        with self._lock:
            part = self._part = max(part, self._part)
            self._progress.update(self._task, completed=part, numbers=self.numbers(part))

    def numbers(self, part: float) -> str:
        """Return `1,000/5,000 messages, 200 KiB, 1,000/s, 4s left`; rate and time left only once they are
        known.
        """
        done = round(self._messages * part)
        elapsed = time.monotonic() - self._start
        text = f"{format_count(done)}/{format_count(self._messages)} messages"
        if self._size:
            text += f", {format_bytes(round(self._size * part))}"
        if 0 < part < 1 and elapsed > 0:
            seconds = max(1, round(elapsed * (1 - part) / part))
            remaining = f"{seconds}s" if seconds < 60 else format_duration(seconds * SECOND)
            text += f", {format_count(round(done / elapsed))}/s, {remaining} left"
        return text


def write_status(out: TextIO, text: str) -> None:
    """Write a status line to a terminal; `clear_status` erases it."""
    width = Console(file=out, force_terminal=True).width
    out.write(clean(text)[: width - 1])
    out.flush()


def clear_status(out: TextIO) -> None:
    """Erase the status line."""
    out.write("\r\x1b[2K")
    out.flush()
