"""The progress of an export on stderr: sentences, and on a terminal bars and a status line."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from jsctl.base.standard_streams import is_dumb
from jsctl.env import Env
from jsctl.views.export import export as view

if TYPE_CHECKING:
    from jsctl.render.transfer import StatusLine


class ExportDisplay:
    """The implementation of jsctl.spark.export.stream_run.Display. Not thread-safe."""

    def __init__(self, env: Env) -> None:
        self._env = env
        self._is_terminal = env.streams.stderr.isatty() and not is_dumb(env.environ)
        self._status: StatusLine | None = None

    def say(self, text: str) -> None:
        """Write a sentence above the status line."""
        self._set_status("")
        self._env.say(text)

    @contextlib.contextmanager
    def progress(self, label: str, messages: int, size: int) -> Iterator[Callable[[float], None]]:
        """Show a bar. Yields a function that takes the share that is done, from 0 to 1. size: bytes."""
        self._set_status("")
        if not self._is_terminal:
            yield lambda share: None
            return
        from jsctl.render.transfer import Transfer

        with Transfer(self._env.streams.stderr, label, messages, size) as bar:
            yield bar.reach

    @contextlib.contextmanager
    def waiting(self, outcomes: Sequence[view.Exported]) -> Iterator[None]:
        """Show a status line with what was exported so far."""
        self._set_status(view.so_far(outcomes))
        try:
            yield
        finally:
            self._set_status("")

    def exported(self, outcomes: Sequence[view.Exported]) -> None:
        """Write what was exported, ahead of the error that follows."""
        self.say(view.so_far(outcomes, "exported"))

    def _set_status(self, text: str) -> None:
        """Replace the status line; empty removes it."""
        if self._status is not None:
            self._status.clear()
            self._status = None
        if text and self._is_terminal:
            from jsctl.render.transfer import StatusLine

            self._status = StatusLine(self._env.streams.stderr, text)
