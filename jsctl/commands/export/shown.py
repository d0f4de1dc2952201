"""What people see of an export while it runs, on stderr: sentences, and on a terminal bars and a line that
stands."""

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from jsctl.env import Env

if TYPE_CHECKING:
    from jsctl.render.transfer import Standing


class Shown:
    """From one thread at a time."""

    def __init__(self, env: Env) -> None:
        self._env = env
        self._terminal = env.streams.stderr.isatty() and env.environ.get("TERM") != "dumb"
        self._standing: Standing | None = None

    def say(self, text: str) -> None:
        """A sentence, for good."""
        self.stand("")
        self._env.say(text)

    def stand(self, text: str) -> None:
        """A line that is there until something else is shown; empty for none."""
        if self._standing is not None:
            self._standing.clear()
            self._standing = None
        if text and self._terminal:
            from jsctl.render.transfer import Standing

            self._standing = Standing(self._env.streams.stderr, text)

    @contextlib.contextmanager
    def progress(self, label: str, messages: int, size: int) -> Iterator[Callable[[float], None]]:
        """A bar. Yields what is called with the part that is done, from 0 to 1."""
        self.stand("")
        if not self._terminal:
            yield lambda part: None
            return
        from jsctl.render.transfer import Transfer

        with Transfer(self._env.streams.stderr, label, messages, size) as bar:
            yield bar.reach
