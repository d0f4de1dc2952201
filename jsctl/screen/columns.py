"""Which columns of a table are on the screen, and how wide each is. No I/O."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from jsctl.render.fit import NUMBERS, fit_columns
from jsctl.render.text import measure, show_all
from jsctl.screen.model import Model
from jsctl.views.board import Grid
from jsctl.views.result import Column

GAP = 2  #: cells between columns
MARK_WIDTH = 2  #: cells ahead of each row
_MIN_WIDTHS = {"count": 7, "bytes": 8, "rate": 7, "ago": 7, "duration": 7, "trend": 12, "percent": 4}
"""Minimum cells of a column by the kind of its numbers, so that columns do not move when numbers change."""
_LONG_NAME = 40  #: cells of a name that a column keeps when there is room
_PROSE = 22  #: minimum cells of a sentence


class ShownColumn(NamedTuple):
    """A column that is shown. width: its cells. right: whether it is aligned to the right. values, texts: of
    the rows on the screen."""

    column: Column
    width: int
    right: bool
    values: Sequence[Any]
    texts: Sequence[str]


def choose_columns(model: Model, grid: Grid, shown: Sequence[Any], width: int) -> list[ShownColumn]:
    """Return the columns that are on the screen, for these rows.

    Of all columns, or of those that the user has chosen, the ones that have been scrolled over are left out,
    but not the first ones, which name the row.
    """
    candidates = list_candidates(model, grid)
    columns = _measure(grid, candidates, shown)
    widths = [column.width for column in columns]
    if model.is_scrolled:
        pinned = _pin_names(candidates, widths, width)
        indices = [
            *range(pinned),
            *range(min(pinned + model.view.left, max(pinned, len(candidates) - 1)), len(candidates)),
        ]
    else:
        room, indices = width - MARK_WIDTH, [*range(len(candidates))]
        if sum(widths) + GAP * (len(widths) - 1) > room:
            blank = [index for index in indices if not grid.has_values(candidates[index])]
            indices = fit_columns(candidates, widths, room, GAP, blank=blank, prose=_PROSE)
    columns = [columns[index]._replace(width=widths[index]) for index in indices]
    # The last column is cut or dropped when all together are too wide.
    excess = sum(column.width for column in columns) + GAP * (len(columns) - 1) - (width - MARK_WIDTH)
    while excess > 0 and columns:
        last = columns.pop()
        excess -= last.width + GAP
        if excess < 0 and -excess > GAP + 2:
            columns.append(last._replace(width=-excess - GAP))
    return columns


def list_hidden(model: Model, grid: Grid, columns: Sequence[ShownColumn]) -> list[str]:
    """Return the titles of the columns that are not on the screen, in their order. columns: what is."""
    on_screen = {column.column.key for column in columns}
    known = list_candidates(model if model.chosen else model._replace(wide=True), grid)
    return [column.title for column in known if column.key not in on_screen]


def find_last_left(model: Model, grid: Grid, shown: Sequence[Any], width: int) -> int:
    """Return how many columns can be scrolled over before the last one is wholly on the screen."""
    if not model.is_scrolled or not (candidates := list_candidates(model, grid)):
        return 0
    widths = [column.width for column in _measure(grid, candidates, shown)]
    pinned = _pin_names(candidates, widths, width)
    room = width - MARK_WIDTH - sum(widths[:pinned]) - GAP * (pinned - 1)
    left = len(candidates) - pinned
    while left > 0 and room >= GAP + widths[pinned + left - 1]:
        left -= 1
        room -= GAP + widths[pinned + left]
    return min(left, max(0, len(candidates) - pinned - 1))


def _pin_names(columns: Sequence[Column], widths: list[int], width: int) -> int:
    """Return how many columns stay when the others are scrolled: the names at the beginning, as far as they
    take half of the screen. The first one is narrowed to that."""
    widths[:1] = [min(widths[0], width // 2)]
    pinned, used = 1, widths[0]
    while (
        pinned + 1 < len(columns)
        and columns[pinned].kind == "text"
        and used + GAP + widths[pinned] <= width // 2
    ):
        used += GAP + widths[pinned]
        pinned += 1
    return pinned


def list_candidates(model: Model, grid: Grid) -> list[Column]:
    """Return the columns that may be shown: those that the user has chosen, in their order, and without a
    choice or with `wide`, those that have something to show. The fixed one stays."""
    keys = [*[grid.fixed] * (grid.fixed not in model.chosen), *model.chosen] if model.chosen else ()
    chosen = [column for key in dict.fromkeys(keys) for column in grid.columns if column.key == key]
    if chosen and not model.wide:
        return chosen
    others = [
        column
        for column in grid.columns
        if (model.wide or not column.wide) and (not column.optional or grid.has_values(column))
    ]
    return [*chosen, *(one for one in others if one not in chosen)]


def _measure(grid: Grid, columns: Sequence[Column], rows: Sequence[Any]) -> list[ShownColumn]:
    """Return columns as they are for these rows, at their full width."""
    shown = []
    for column in columns:
        values = [*map(column.get, rows)]
        texts = show_all(values, column.kind)
        widest = max(map(len if "".join(texts).isascii() else measure, texts), default=0)
        if column.kind == "text" and len(grid.rows) > len(rows):
            widest = max(widest, min(_LONG_NAME, grid.find_longest(column)))
        width = max(widest, measure(column.title) + 1, _MIN_WIDTHS.get(column.kind, 0))
        shown.append(ShownColumn(column, width, column.kind in NUMBERS, values, texts))
    return shown
