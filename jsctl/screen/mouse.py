"""The effect of the mouse: (model, column, line) -> model. No I/O."""

from collections.abc import Sequence
from typing import Any

from jsctl.render.text import measure
from jsctl.screen.columns import GAP, MARK_WIDTH, choose_columns
from jsctl.screen.drawing import draw_head, find_top_row
from jsctl.screen.keys import press
from jsctl.screen.model import Model, arrange, move_to, sort_key, sort_keys, with_part
from jsctl.screen.tabs import draw_tabs
from jsctl.views.board import Grid


def apply_click(model: Model, x: int, y: int) -> Model:
    """Apply a click: on a tab, its part; on a title, another order; on a row, that row, and
    the selected one is opened. x, y: cells from the upper left corner."""
    if model.mode not in ("table", "page"):
        return model
    head = draw_head(model, model.width, model.height)
    if y < len(head):
        return _choose_part(model, x) if y == 1 and head[1] == draw_tabs(model, model.width) else model
    if model.mode == "page" or model.grid is None or model.board.picture is not None or not model.rows:
        return model
    space = max(1, model.height - len(head) - 2)
    top = find_top_row(model, space)
    if y == len(head):
        return _choose_order(model, model.grid, model.rows[top : top + space], x)
    index = top + y - len(head) - 1
    if y >= model.height - 1 or index >= len(model.rows):
        return model
    return press(model, "enter") if index == model.view.at else move_to(model, index)


def _choose_part(model: Model, x: int) -> Model:
    end = 0
    for part, (_, text) in zip(model.board.parts, draw_tabs(model, model.width), strict=True):
        end += measure(text)
        if x < end:
            return with_part(model, part.key)
    return model


def _choose_order(model: Model, grid: Grid, shown: Sequence[Any], x: int) -> Model:
    """Sort by the column at a place; by the column that rows are sorted by already, in the reverse order.
    shown: the rows on the screen."""
    end = MARK_WIDTH
    for column, width, *_ in choose_columns(model, grid, shown, model.width):
        end += width + GAP
        if x < end:
            if column.key not in sort_keys(model):
                return model
            reverse = not model.view.reverse if column.key == sort_key(model) else False
            return arrange(model.with_view(sort=column.key, reverse=reverse, selected=None, at=0, top=0))
    return model
