"""The live screen: panes fitted to the terminal, whatever its size. Foreign text is never markup here:
it is cleaned, and goes into rich as Text."""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TextIO

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text as Rich

from jsctl.render.style import SCHEMES
from jsctl.render.text import cells, clean, show
from jsctl.views.report.panes import STYLES, Pane, Section
from jsctl.views.result import Cell, Style, Text

_STYLES: dict[Style, str] = {
    "": "",
    "good": "green",
    "warn": "yellow",
    "bad": "bold red",
    "dim": "dim",
    "bold": "bold",
}
_NUMBERS = frozenset({"count", "bytes", "rate", "duration", "ago", "percent"})
_NARROWEST = 6  #: a column is not cut below this many cells
_GAP = 2


class LiveScreen:
    """A context manager: the alternate screen while it is open, the last picture left behind.

    size: columns and rows; None asks the terminal at every picture.
    """

    def __init__(self, out: TextIO, *, color: bool, scheme: str = "") -> None:
        self._console = Console(
            file=out, force_terminal=True, no_color=not color, markup=False, highlight=False, emoji=False
        )
        self._scheme = scheme
        self._live: Live | None = None
        self._picture: Callable[[int, int], RenderableType] | None = None

    def __enter__(self) -> "LiveScreen":
        self.resume()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.suspend()
        if self._picture is not None:
            # One row less than the screen, so that the prompt below pushes nothing out.
            self._console.print(self._picture(self._console.width, self._console.height - 1))

    def suspend(self) -> None:
        """Give the terminal back as it was."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def resume(self) -> None:
        """Take the terminal (again)."""
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

    def show(self, heading: Text, panes: Sequence[Pane]) -> None:
        """Draw these panes."""
        self._picture = lambda width, height: picture(heading, panes, width, height, self._scheme)
        self.redraw()

    def draw(self, lines: Callable[[int, int], Sequence[Text]]) -> None:
        """Draw lines that are made for the terminal's columns and rows."""
        self._picture = lambda width, height: Group(
            *(_line(line.text, line.style, width) for line in lines(width, height)[:height])
        )
        self.redraw()

    def redraw(self) -> None:
        """Draw the same again, at the size that the terminal has now."""
        if self._live is not None and self._picture is not None:
            width, height = self._console.size
            self._live.update(self._picture(width, height), refresh=True)


def picture(
    heading: Text, panes: Sequence[Pane], width: int, height: int, scheme: str = ""
) -> RenderableType:
    """Panes on `width` x `height` cells. What does not fit is counted, the most troubled rows stay."""
    head = _line(heading.text, heading.style, width)
    room = height - 1
    least = [_height(pane, [min(1, len(s.table.rows)) for s in pane.sections]) for pane in panes]
    if sum(least) > room or width < 2 * _NARROWEST:
        return Group(head, *_summaries(panes, width, room)) if room > 0 else head
    shares = _shares(panes, room)
    left = room - sum(_height(pane, share) for pane, share in zip(panes, shares, strict=True))
    airy = left >= sum(max(len(pane.sections) - 1, 0) for pane in panes)
    return Group(
        head,
        *(_panel(pane, share, width, scheme, airy) for pane, share in zip(panes, shares, strict=True)),
    )


def _summaries(panes: Sequence[Pane], width: int, room: int) -> list[Rich]:
    """One line a pane, for a screen that is too small for more."""
    shown = list(panes)
    if len(panes) > room:
        chosen = set(_worst([pane.trouble for pane in panes], room - 1))
        shown = [pane for at, pane in enumerate(panes) if at in chosen]
    lines = []
    for pane in shown:
        # What is cut off at the end of a narrow line is not what is wrong.
        words = [f"{pane.summary.text}: {pane.title}", *(m.text for m in pane.messages)]
        lines.append(_line("; ".join(words), STYLES[pane.trouble], width))
    if len(panes) > len(shown):
        lines.append(_line(f"… {len(panes) - len(shown)} more; a taller terminal", "dim", width))
    return lines


def _height(pane: Pane, rows: Sequence[int]) -> int:
    """Lines that a pane takes with so many rows of each section."""
    lines = 2 + len(pane.messages)
    for section, shown in zip(pane.sections, rows, strict=True):
        lines += 1 + shown + (shown < len(section.table.rows))
    return lines


def _shares(panes: Sequence[Pane], room: int) -> list[list[int]]:
    """Rows of every section: all where they fit, else the small ones whole and the large ones alike."""
    wanted = [[len(section.table.rows) for section in pane.sections] for pane in panes]
    most = max((rows for pane in wanted for rows in pane), default=0)

    def at_most(limit: int) -> list[list[int]]:
        return [[min(rows, limit) for rows in pane] for pane in wanted]

    def fits(shares: list[list[int]]) -> bool:
        return sum(_height(pane, share) for pane, share in zip(panes, shares, strict=True)) <= room

    low, high = 1, max(most, 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(at_most(middle)) else (low, middle - 1)
    shares = at_most(low)
    # Lines that are left over go to the first sections that can use them.
    for share, pane in zip(shares, wanted, strict=True):
        for at, rows in enumerate(pane):
            while share[at] < rows:
                share[at] += 1
                if not fits(shares):
                    share[at] -= 1
                    break
    return shares


def _panel(pane: Pane, shares: Sequence[int], width: int, scheme: str, airy: bool) -> Panel:
    lines: list[Rich] = [_line(m.text, m.style, width - 4) for m in pane.messages]
    for at, (section, rows) in enumerate(zip(pane.sections, shares, strict=True)):
        if at and airy:
            lines.append(Rich())
        lines.extend(_section(section, rows, width - 4, pane.dim))
    title = Rich(" " + clean(pane.title), style="bold")
    title.append("  ")
    title.append(clean(pane.summary.text) + " ", style=f"not bold {_STYLES[pane.summary.style]}")
    title.truncate(max(width - 6, 1), overflow="ellipsis")
    edge = _STYLES[STYLES[pane.trouble]] if pane.trouble else scheme if scheme in SCHEMES else "none"
    return Panel(Group(*lines), box=box.ROUNDED, title=title, title_align="left", border_style=edge)


def _section(section: Section, rows: int, width: int, dim: bool) -> list[Rich]:
    table = section.table
    chosen = _worst(section.trouble, rows)
    kept = [row for at, row in enumerate(table.rows) if at in chosen]
    columns = list(table.columns)
    texts = [[clean(column.title) for column in columns]]
    texts += [[show(value, column.kind) for value, column in zip(row, columns, strict=True)] for row in kept]
    widths = [max(map(cells, column)) for column in zip(*texts, strict=True)]
    shown = _columns([column.key for column in columns], widths, section.spare, width)
    _squeeze(widths, shown, width)
    lines = []
    for number, row in enumerate(texts):
        line = Rich(no_wrap=True, overflow="crop")
        for at in shown:
            value = kept[number - 1][at] if number else None
            style = _STYLES[value.style] if isinstance(value, Cell) else ""
            piece = Rich(row[at], style="bold" if not number else "dim" if dim else style)
            piece.truncate(widths[at], overflow="ellipsis")
            space = " " * (widths[at] - piece.cell_len)
            line.append(" " * _GAP if line.plain else "")
            if columns[at].kind in _NUMBERS:
                line.append(space)
                line.append_text(piece)
            else:
                line.append_text(piece)
                line.append(space)
        line.truncate(width)
        lines.append(line)
    if hidden := len(table.rows) - len(kept):
        troubled = sum(1 for at, trouble in enumerate(section.trouble) if trouble and at not in chosen)
        more = f"… {hidden:,} more {section.noun}"
        more += f", {troubled:,} in trouble" if troubled else ""
        lines.append(_line(f"{more}; --stream PATTERN or a taller terminal", "dim", width))
    return lines


def _worst(trouble: Sequence[int], count: int) -> set[int]:
    """Places of the `count` most troubled; among equals, the first."""
    return set(sorted(range(len(trouble)), key=lambda at: -trouble[at])[:count])


def _columns(keys: Sequence[str], widths: Sequence[int], spare: Sequence[str], width: int) -> list[int]:
    """Places of the columns that fit side by side, spare ones left out first."""
    shown = list(range(len(keys)))
    for key in spare:
        if sum(widths[at] + _GAP for at in shown) - _GAP <= width:
            break
        shown = [at for at in shown if keys[at] != key]
    return shown


def _squeeze(widths: list[int], shown: Sequence[int], width: int) -> None:
    """Narrow the widest of the columns until all fit."""
    over = sum(widths[at] + _GAP for at in shown) - _GAP - width
    while over > 0:
        widest = max(shown, key=lambda at: widths[at])
        if widths[widest] <= _NARROWEST:
            return
        widths[widest] -= 1
        over -= 1


def _line(text: str, style: Style, width: int) -> Rich:
    line = Rich(clean(text), style=_STYLES[style], no_wrap=True, overflow="crop")
    line.truncate(max(width, 1), overflow="ellipsis")
    return line
