"""Boards and pictures for tests of the screen."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from jsctl.base.units import SECOND
from jsctl.screen.drawing import Line, draw, settle
from jsctl.screen.keys import press
from jsctl.screen.model import Model, build_first_model, with_board, with_size
from jsctl.views.board import Board, Grid, Part, Start
from jsctl.views.result import Column

COLUMNS = (
    Column("Stream", "stream", "text", read=itemgetter(0)),
    Column("Messages", "messages", "count", read=itemgetter(1), hideable=1),
    Column("Subjects", "subjects", "count", read=lambda row: 7, wide=True),
    Column("Trouble", "trouble", "prose", read=itemgetter(2), optional=True),
)


def grid(rows: Sequence[tuple[str, int, str]]) -> Grid:
    """A table of streams: name, messages, what is wrong."""
    return Grid(
        COLUMNS,
        rows,
        key=itemgetter(0),
        level=lambda row: 2 if row[2] else 0,
        record=lambda row: {"stream": row[0], "messages": row[1]},
        line=lambda row: f"jsctl stream info {row[0]}",
        page=lambda row: ("stream", row[0]),
        noun="streams",
    )


def board(rows: Sequence[tuple[str, int, str]], number: int = 1, **rest: Any) -> Board:
    """A board with these streams, and an empty second part."""
    parts = [Part("streams", "Streams", lambda: grid(rows)), Part("consumers", "Consumers", lambda: grid([]))]
    return Board(parts, number=number, **rest)


def model(rows: Sequence[tuple[str, int, str]], width: int = 80, height: int = 24, **start: Any) -> Model:
    """A screen that shows these streams."""
    first = build_first_model(Start("jsctl report", **start), 2 * SECOND)
    return settle(with_size(with_board(first, board(rows)), width, height))


def pressed(state: Model, *keys: str) -> Model:
    """The state after these keys."""
    for key in keys:
        state = settle(press(state, key))
    return state


def texts(state: Model) -> list[str]:
    """What the screen shows, without styles."""
    return ["".join(text for _, text in line) for line in lines(state)]


def lines(state: Model) -> list[Line]:
    """What the screen shows."""
    return draw(state, state.width, state.height)


def names(state: Model) -> list[str]:
    """The streams that are shown, in their order."""
    return [row[0] for row in state.rows]
