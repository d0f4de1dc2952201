"""The rows of a table on the screen, as styled text. No I/O."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from jsctl.monitor.trouble import BAD, WARN
from jsctl.render.fit import NUMBERS, cut, cut_end
from jsctl.render.text import measure
from jsctl.screen.columns import ShownColumn
from jsctl.views.result import Cell, Column

_LEVELS = {WARN: "warn", BAD: "bad"}


class DrawnRow(NamedTuple):
    """A row on the screen. previous: as it was in the round before, None if it is new; the row itself if
    there was none. base: the style of all of it."""

    row: Any
    previous: Any
    level: int
    is_dim: bool
    base: str


def draw_mark(row: DrawnRow) -> tuple[str, str]:
    """Return what begins a row: its style and text."""
    if row.previous is None:
        style, mark = "good", "+ "
    elif row.level:
        style, mark = _LEVELS[row.level], "● " if row.level == BAD else "◌ "
    else:
        style, mark = "", "  "
    return _join(row.base, "dim" if row.is_dim else style), mark


def draw_cells(
    shown: ShownColumn, rows: Sequence[DrawnRow], gap: str, is_first: bool
) -> list[tuple[str, str]]:
    """Return the cells of a column, each its style and text. gap: what ends them. is_first: whether it is the
    first column."""
    column, space, right, values, texts = shown
    shorten = cut_end if column.kind in ("prose", "trend") else cut
    raw = column.get_raw if column.kind in NUMBERS and not column.quiet else None
    cells = []
    for (row, previous, level, is_dim, base), value, whole in zip(rows, values, texts, strict=True):
        text = "0" if column.kind == "bytes" and value == 0 else whole
        if len(text) <= space and text.isascii():  # the usual case
            text = text.rjust(space) if right else text.ljust(space)
        else:
            text = format_padded(shorten(text, space), space, right)
        style = "dim" if is_dim else _find_style(column, value, level, is_first)
        if raw is not None and not is_dim and previous is not None and raw(previous) != raw(row):
            style = _join(style, "changed")
        cells.append((_join(base, style) if base else style, text + gap))
    return cells


def _find_style(column: Column, value: Any, level: int, is_first: bool) -> str:
    if isinstance(value, Cell) and value.style:
        return value.style
    if column.kind == "prose":
        return _LEVELS.get(level, "")
    if column.kind == "trend":
        return "trend"
    if is_first and level == BAD:
        return "bad"
    if value in (0, None, "") and column.kind in NUMBERS:
        return "dim"
    return ""


def format_padded(text: str, space: int, right: bool) -> str:
    """Return a text of `space` cells, aligned to the right or the left."""
    gap = " " * max(0, space - measure(text))
    return gap + text if right else text + gap


def _join(*styles: str) -> str:
    return " ".join(filter(None, styles))
