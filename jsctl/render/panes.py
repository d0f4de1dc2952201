"""Panes fitted to a terminal of any size. Foreign text is never markup here: it is cleaned, and goes into
rich as Text."""

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text as Rich

from jsctl.render.fit import NUMBERS, cut, cut_end, fit_columns
from jsctl.render.screen import RICH_STYLES, Frame, styled_line
from jsctl.render.style import SCHEMES
from jsctl.render.text import cells, clean, show
from jsctl.views.report.panes import STYLES, Pane, Section
from jsctl.views.result import Cell, Text

_NARROWEST = 6  #: half of the columns below which there are no tables
_GAP = 2
_PROSE = 36  #: cells of a sentence, which has one line here


def panes_frame(heading: Text, panes: Sequence[Pane], scheme: str = "") -> Frame:
    """Return what draws panes below a heading."""
    return lambda width, height: fit_panes(heading, panes, width, height, scheme)


def fit_panes(
    heading: Text, panes: Sequence[Pane], width: int, height: int, scheme: str = ""
) -> RenderableType:
    """Return panes on `width` x `height` cells. What does not fit is counted; the worst rows stay."""
    head = styled_line(heading.text, heading.style, width)
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
    """Return one line for each pane, for a screen that is too small for more."""
    shown = list(panes)
    if len(panes) > room:
        chosen = set(_worst([pane.trouble for pane in panes], room - 1))
        shown = [pane for at, pane in enumerate(panes) if at in chosen]
    lines = []
    for pane in shown:
        # What is cut off at the end of a narrow line is not what is wrong.
        words = [f"{pane.summary.text}: {pane.title}", *(m.text for m in pane.messages)]
        lines.append(styled_line("; ".join(words), STYLES[pane.trouble], width))
    if len(panes) > len(shown):
        lines.append(styled_line(f"… {len(panes) - len(shown)} more; a taller terminal", "dim", width))
    return lines


def _height(pane: Pane, rows: Sequence[int]) -> int:
    """Return the lines that a pane takes with these numbers of rows of its sections."""
    lines = 2 + len(pane.messages)
    for section, shown in zip(pane.sections, rows, strict=True):
        lines += 1 + shown + (shown < len(section.table.rows))
    return lines


def _shares(panes: Sequence[Pane], room: int) -> list[list[int]]:
    """Return the rows of every section: all where they fit, otherwise the small ones whole and the large
    ones alike."""
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
    lines: list[Rich] = [styled_line(m.text, m.style, width - 4) for m in pane.messages]
    for at, (section, rows) in enumerate(zip(pane.sections, shares, strict=True)):
        if at and airy:
            lines.append(Rich())
        lines.extend(_section(section, rows, width - 4, pane.dim))
    title = Rich(" " + clean(pane.title), style="bold")
    title.append("  ")
    title.append(clean(pane.summary.text) + " ", style=f"not bold {RICH_STYLES[pane.summary.style]}")
    title.truncate(max(width - 6, 1), overflow="ellipsis")
    edge = RICH_STYLES[STYLES[pane.trouble]] if pane.trouble else scheme if scheme in SCHEMES else "none"
    return Panel(Group(*lines), box=box.ROUNDED, title=title, title_align="left", border_style=edge)


def _section(section: Section, rows: int, width: int, dim: bool) -> list[Rich]:
    table = section.table
    chosen = _worst(section.trouble, rows)
    chosen_rows = [row for at, row in enumerate(table.rows) if at in chosen]
    columns = list(table.columns)
    texts = [[clean(column.title) for column in columns]]
    texts += [
        [show(value, column.kind) for value, column in zip(row, columns, strict=True)] for row in chosen_rows
    ]
    widths = [max(map(cells, column)) for column in zip(*texts, strict=True)]
    shown = fit_columns(columns, widths, table.spare, width, _GAP, prose=_PROSE)
    lines = []
    for number, row in enumerate(texts):
        line = Rich(no_wrap=True, overflow="crop")
        for at in shown:
            value = chosen_rows[number - 1][at] if number else None
            style = RICH_STYLES[value.style] if isinstance(value, Cell) else ""
            text = (cut_end if columns[at].kind == "prose" else cut)(row[at], widths[at])
            piece = Rich(text, style="bold" if not number else "dim" if dim else style)
            space = " " * (widths[at] - piece.cell_len)
            line.append(" " * _GAP if line.plain else "")
            if columns[at].kind in NUMBERS:
                line.append(space)
                line.append_text(piece)
            else:
                line.append_text(piece)
                line.append(space)
        line.truncate(width)
        lines.append(line)
    if hidden := len(table.rows) - len(chosen_rows):
        troubled = sum(1 for at, trouble in enumerate(section.trouble) if trouble and at not in chosen)
        more = f"… {hidden:,} more {section.noun}"
        more += f", {troubled:,} in trouble" if troubled else ""
        lines.append(styled_line(f"{more}; --stream PATTERN or a taller terminal", "dim", width))
    return lines


def _worst(trouble: Sequence[int], count: int) -> set[int]:
    """Return the places of the `count` worst; among equals, the first."""
    return set(sorted(range(len(trouble)), key=lambda at: -trouble[at])[:count])
