"""The live screen: the one writer of everything that is drawn repeatedly on a terminal.

A command turns what it knows into a `Frame`, which draws for the size that the terminal has. `live_screen`
takes the terminal, draws the last frame again when the size changes, ends with `q`, and gives the terminal
back as it was in every way out: an end, an error, ctrl-C, ctrl-Z, SIGTERM, SIGHUP.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text as Rich

from jsctl.render.emit import text_lines
from jsctl.render.text import clean
from jsctl.signals import handled, restoring_first
from jsctl.views.result import Result, Style, Text

Frame = Callable[[int, int], RenderableType]
"""Draws for a terminal of this many columns and rows."""

RICH_STYLES: dict[Style, str] = {
    "": "",
    "good": "green",
    "warn": "yellow",
    "bad": "bold red",
    "dim": "dim",
    "bold": "bold",
}


class Screen:
    """The alternate screen of a terminal, and the frame on it."""

    def __init__(self, out: TextIO, *, color: bool) -> None:
        self._console = Console(
            file=out, force_terminal=True, no_color=not color, markup=False, highlight=False, emoji=False
        )
        self._live: Live | None = None
        self._frame: Frame | None = None

    def show(self, frame: Frame) -> None:
        """Draw a frame; it stays until the next."""
        self._frame = frame
        self.redraw()

    def redraw(self) -> None:
        """Draw the last frame again, at the size that the terminal has now."""
        if self._live is not None and self._frame is not None:
            width, height = self._console.size
            self._live.update(self._frame(width, height), refresh=True)

    def take(self) -> None:
        """Take the terminal, for the first time or again."""
        self._live = Live(
            console=self._console,
            screen=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )
        self._live.start()
        self.redraw()

    def give_back(self) -> None:
        """Give the terminal back as it was."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def leave_behind(self) -> None:
        """Print the last frame below what was on the terminal before."""
        if self._frame is not None:
            # One row less than the screen, so that the prompt below pushes nothing out.
            self._console.print(self._frame(self._console.width, self._console.height - 1))


@contextlib.contextmanager
def live_screen(
    out: TextIO, stdin: TextIO, quit: Callable[[], object], *, color: bool, leave_last: bool = True
) -> Iterator[Screen]:
    """Yield a screen on the terminal `out`.

    Args:
        quit: called when `q` is pressed on `stdin`, and for SIGTERM and SIGHUP; it must make the block end.
            After these two the process ends by the signal once the terminal is restored.
        leave_last: print the last frame once more when the screen is gone.
    """
    screen = Screen(out, color=color)
    keys = _Keys(stdin, quit)

    def pause(number: int) -> None:
        keys.off()
        screen.give_back()
        os.kill(os.getpid(), signal.SIGSTOP)  # until the shell's fg
        screen.take()
        keys.on()

    with restoring_first(quit):
        screen.take()
        try:
            with handled({signal.SIGWINCH: lambda number: screen.redraw(), signal.SIGTSTP: pause}), keys:
                yield screen
        finally:
            screen.give_back()
            if leave_last:
                screen.leave_behind()


class _Keys:
    """A context manager: keys as they are pressed, without echo; `q` calls `quit`."""

    def __init__(self, stdin: TextIO, quit: Callable[[], object]) -> None:
        self._quit = quit
        self._saved: list[Any] | None = None
        self._file = stdin.fileno() if stdin is sys.stdin and stdin.isatty() else -1

    def __enter__(self) -> None:
        self.on()

    def __exit__(self, *_: object) -> None:
        self.off()

    def on(self) -> None:
        if self._file < 0:
            return
        import termios
        import tty

        # A job in the background must not touch the terminal's settings: it would be stopped.
        if os.getpgrp() != os.tcgetpgrp(self._file):
            return
        self._saved = termios.tcgetattr(self._file)
        tty.setcbreak(self._file, termios.TCSANOW)
        asyncio.get_running_loop().add_reader(self._file, self._read)

    def off(self) -> None:
        if self._saved is None:
            return
        import termios

        asyncio.get_running_loop().remove_reader(self._file)
        termios.tcsetattr(self._file, termios.TCSANOW, self._saved)
        self._saved = None

    def _read(self) -> None:
        pressed = os.read(self._file, 1024)
        if not pressed or b"q" in pressed.lower():
            asyncio.get_running_loop().remove_reader(self._file)
            self._quit()


def styled_line(text: str, style: Style, width: int) -> Rich:
    """Return a line of foreign text, cut off at the width."""
    line = Rich(clean(text), style=RICH_STYLES[style], no_wrap=True, overflow="crop")
    line.truncate(max(width, 1), overflow="ellipsis")
    return line


def lines_frame(lines: Callable[[int, int], Sequence[Text]]) -> Frame:
    """Return what draws the lines that a function makes for the size of the terminal."""
    return lambda width, height: Group(
        *(styled_line(line.text, line.style, width) for line in lines(width, height)[:height])
    )


def result_frame(result: Result, *, scheme: str = "", color: bool = False) -> Frame:
    """Return what draws a result as `emit` writes it; lines that do not fit are counted."""

    def draw(width: int, height: int) -> RenderableType:
        drawn = list(text_lines(result, True, width=width, scheme=scheme, color=color))
        shown = drawn if len(drawn) <= height else drawn[: max(height - 1, 0)]
        rows = [Rich.from_ansi(line, no_wrap=True, overflow="crop") for line in shown]
        if len(shown) < len(drawn):
            rows.append(
                styled_line(f"… {len(drawn) - len(shown):,} more lines; a taller terminal", "dim", width)
            )
        return Group(*rows)

    return draw
