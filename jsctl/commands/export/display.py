"""The progress of an export on stderr: sentences, and on a terminal bars and a status line."""

import contextlib
from collections.abc import Callable, Iterator, Sequence

from jsctl.base.standard_streams import is_dumb
from jsctl.env import Env
from jsctl.views.export import export as view


class ExportDisplay:
    """The implementation of jsctl.spark.export.stream_run.Display. Not thread-safe."""

    def __init__(self, env: Env) -> None:
        self._env = env

    def say(self, text: str) -> None:
        """Write a sentence above the status line."""
        self._env.say(text)

    @contextlib.contextmanager
    def progress(self, label: str, messages: int, size: int) -> Iterator[Callable[[float], None]]:
        """Show a bar. Yields a function that takes the share that is done, from 0 to 1. size: bytes."""
        self._env.show_status("")
        stderr = self._env.streams.stderr
        if not stderr.isatty() or is_dumb(self._env.environ):
            yield lambda share: None
            return
        from jsctl.render.transfer import Transfer

        with Transfer(stderr, label, messages, size) as bar:
            yield bar.set_share

    @contextlib.contextmanager
    def waiting(self, outcomes: Sequence[view.Exported]) -> Iterator[None]:
        """Show a status line with what was exported so far."""
        self._env.show_status(view.so_far(outcomes))
        try:
            yield
        finally:
            self._env.show_status("")

    def exported(self, outcomes: Sequence[view.Exported]) -> None:
        """Write what was exported, ahead of the error that follows."""
        self.say(view.so_far(outcomes, "exported"))
