"""A small terminal: what programs write becomes a screen that tests can read.

Programs that draw on a screen write only what has changed, so that words are never whole in their output.
"""

import re
import time
import unicodedata
from collections.abc import Callable
from itertools import groupby

import pexpect

from tests.support.run import Terminal

_SEQUENCE = re.compile(
    r"\x1b\[(?P<mode>[?>=]?)(?P<numbers>[\d;]*)(?P<final>[@-~])|\x1b\][^\x07]*\x07|\x1b[()][A-Z0-9]|\x1b[=>78c]"
)


_BLANK = (" ", "")
_MOST_READS = 20  #: of what a program writes without a pause


class Emulator:
    """The screen of a terminal, of this size; `alternate` while a program has taken it.

    Each cell is a character and the style that it was written in, as the numbers of ANSI's sequence.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.alternate = False
        self.cursor_hidden = False
        self._left_over = ""
        self._style = ""
        self._clear()

    def _clear(self) -> None:
        self.x = self.y = 0
        self._cells = [[_BLANK] * self.columns for _ in range(self.rows)]

    def resize(self, columns: int, rows: int) -> None:
        """Change the size; a program draws again then."""
        self.columns, self.rows = columns, rows
        self._clear()

    @property
    def lines(self) -> list[str]:
        """The lines of the screen, without blanks at their ends."""
        return ["".join(character for character, _ in cells).rstrip() for cells in self._cells]

    @property
    def styled_lines(self) -> list[str]:
        """The lines of the screen with ANSI's sequences."""
        return [
            "".join(
                f"\x1b[0;{style}m{''.join(character for character, _ in run)}"
                for style, run in groupby(cells, key=lambda cell: cell[1])
            )
            for cells in self._cells
        ]

    @property
    def text(self) -> str:
        """The screen as one text."""
        return "\n".join(self.lines)

    def feed(self, text: str) -> None:
        """Process what a program writes."""
        text = self._left_over + text
        self._left_over = ""
        at = 0
        while at < len(text):
            character = text[at]
            if character == "\x1b":
                match = _SEQUENCE.match(text, at)
                if match is None:
                    self._left_over = text[at:]
                    return
                at = match.end()
                if match["final"]:
                    self._control(match["mode"], match["numbers"], match["final"])
                continue
            at += 1
            self._put(character)

    def _put(self, character: str) -> None:
        match character:
            case "\r":
                self.x = 0
            case "\n":
                if self.y + 1 < self.rows:
                    self.y += 1
                else:
                    self._cells = [*self._cells[1:], [_BLANK] * self.columns]
            case "\b":
                self.x = max(0, self.x - 1)
            case "\x07" | "\x00":
                pass
            case _:
                if self.x < self.columns:
                    self._cells[self.y][self.x] = character, self._style
                    wide = unicodedata.east_asian_width(character) in "WF"
                    if wide and self.x + 1 < self.columns:
                        self._cells[self.y][self.x + 1] = "", self._style
                    self.x += 2 if wide else 1

    def _control(self, mode: str, numbers: str, final: str) -> None:
        values = [int(one) if one else 0 for one in numbers.split(";")]
        first = values[0]
        if mode == "?" and final in "hl":
            if 1049 in values:
                self.alternate = final == "h"
                self._clear()
            if 25 in values:
                self.cursor_hidden = final == "l"
            return
        step = max(1, first)
        match final:
            case "m":
                kept, separator, added = (
                    numbers.rpartition("0;") if numbers.startswith("0;") else (self._style, ";", numbers)
                )
                self._style = "" if numbers in ("", "0") else f"{kept}{separator}{added}".strip(";")
            case "A":
                self.y = max(0, self.y - step)
            case "B":
                self.y = min(self.rows - 1, self.y + step)
            case "C":
                self.x = min(self.columns - 1, self.x + step)
            case "D":
                self.x = max(0, min(self.x, self.columns) - step)
            case "H":
                self.y = min(self.rows, step) - 1
                self.x = min(self.columns, max(1, values[1] if len(values) > 1 else 1)) - 1
            case "K":
                self._cells[self.y][self.x :] = [_BLANK] * (self.columns - self.x)
            case "J" if first == 2:
                self._cells = [[_BLANK] * self.columns for _ in range(self.rows)]
            case "J":
                self._cells[self.y][self.x :] = [_BLANK] * (self.columns - self.x)
                for row in range(self.y + 1, self.rows):
                    self._cells[row] = [_BLANK] * self.columns


class Watched:
    """A program in a pseudo-terminal, with its screen."""

    def __init__(self, child: Terminal) -> None:
        self.child = child
        rows, columns = child.getwinsize()
        self.screen = Emulator(columns, rows)
        self.written = ""

    def read(self, seconds: float = 0.05) -> bool:
        """Read what the program writes within `seconds`; return False at its end."""
        try:
            text = self.child.read_nonblocking(65536, seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.written += text
        self.screen.feed(text)
        return True

    def until(self, is_there: "str | Callable[[str], object]", seconds: float = 15) -> str:
        """Wait until the screen has a text, or what a function finds in it. Returns the screen, as it is when
        nothing more is written for a moment: what a single read gets may be half a picture."""
        find = (lambda text: is_there in text) if isinstance(is_there, str) else is_there
        end = time.monotonic() + seconds
        alive = True
        while alive and time.monotonic() < end:
            if find(self.screen.text):
                return self._settle(find, self.screen.text)
            alive = self.read()
        if find(self.screen.text):
            return self.screen.text
        raise AssertionError(f"{is_there!r} is not on the screen:\n{self.screen.text}")

    def _settle(self, find: Callable[[str], object], text: str) -> str:
        """Read until the program pauses; return the last screen in which `find` finds something."""
        for _ in range(_MOST_READS):
            before = len(self.written)
            if not self.read() or len(self.written) == before:
                break
            text = self.screen.text if find(self.screen.text) else text
        return text

    def press(self, keys: str) -> None:
        """Press keys."""
        self.child.send(keys)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal."""
        self.screen.resize(columns, rows)
        self.child.setwinsize(rows, columns)

    def end(self, seconds: float = 15) -> int:
        """Wait for the end. Returns the exit status, 128 and more for a signal."""
        limit = time.monotonic() + seconds
        while self.read():
            assert time.monotonic() < limit, f"it continues:\n{self.screen.text}"
        self.child.close()
        status = self.child.exitstatus if self.child.signalstatus is None else 128 + self.child.signalstatus
        assert status is not None
        return status
