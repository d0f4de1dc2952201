"""The state of a live screen, and how boards change it. No I/O."""

import re
from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from itertools import compress
from operator import not_
from types import MappingProxyType, NoneType
from typing import Any, Literal, NamedTuple

from jsctl.base.units import MS, SECOND, format_time, parse_duration, parse_time, seconds_to_ns
from jsctl.views.board import Board, Detail, Filter, Grid, Link, Query, Start, parse_filter
from jsctl.views.result import Result

Mode = Literal["table", "filter", "go", "time", "ask", "help", "json", "page", "columns"]

INTERVALS = tuple(round(seconds * SECOND) for seconds in (0.2, 0.5, 1, 2, 5, 10, 30, 60, 300))
"""The intervals that `+` and `-` choose from, in ns."""

_NUMBERS = {int, float, NoneType}  #: types of values that are sorted as they are
_NO_BOARD = Board((), number=-1)
_FRAME = 6  #: lines around the rows of a table


class View(NamedTuple):
    """The view of a part, which is restored when the part is shown again.

    sort: key of a column; empty for problems first. at: the selected row. top: the first row on the screen.
    left: how many columns, after the first, have been scrolled over.
    """

    sort: str = ""
    reverse: bool = False
    selected: Hashable = None
    at: int = 0
    top: int = 0
    left: int = 0


class Model(NamedTuple):
    """The state of a screen.

    board: the last answer. plain: the last one without a page. before: the board of the previous round.
    grid: the table of the part that is shown. grid_before: that table in the previous round. rows: the rows
    that are shown, in their order. views: by part. filter: as it was typed. search: the parsed filter.
    typed: what is being typed. pages: the open pages, the last on top. page_top: the first line of the page
    on the screen. width, height: of the terminal. refresh: counts the requests for an immediate round.
    ended: how the user has ended it. lines: command lines that `y` showed, to be printed at the end. times:
    of the rounds of a replay, in seconds since 1970; empty for live data. position: the round of the replay
    that is shown. speed: of the replay; 1 is the speed of the recording. counts: of the rows of each part
    when it was last shown. within: what the rows of the part belong to; origin: the part that it was chosen
    in. listing: the open page whose rows are shown in place of the part's; below: the state in which it was
    opened. asked: what is being typed for. copied: what the last key has copied. columns: keys of the
    columns that were chosen, by part. picked: the selected one in the list of columns.
    """

    start: Start
    interval: int
    board: Board = _NO_BOARD
    plain: Board = _NO_BOARD
    before: Board = _NO_BOARD
    part: str = ""
    grid: Grid | None = None
    grid_before: Grid | None = None
    rows: Sequence[Any] = ()
    views: Mapping[Hashable, View] = MappingProxyType({})
    filter: str = ""
    search: Filter | None = None
    faults: bool = False
    wide: bool = False
    paused: bool = False
    mode: Mode = "table"
    back: Mode = "table"
    typed: str = ""
    notice: str = ""
    pages: tuple[Hashable, ...] = ()
    page_top: int = 0
    width: int = 80
    height: int = 24
    refresh: int = 0
    ended: Literal["", "quit", "interrupted"] = ""
    lines: tuple[str, ...] = ()
    times: Sequence[float] = ()
    position: int = 0
    speed: float = 1.0
    counts: Mapping[str, int] = MappingProxyType({})
    within: Detail | None = None
    origin: str = ""
    listing: Hashable = None
    below: "Model | None" = None
    asked: Link | None = None
    copied: str = ""
    columns: Mapping[str, Sequence[str]] = MappingProxyType({})
    picked: int = 0

    @property
    def view(self) -> View:
        """The view of the part, or of the page with rows, that is shown."""
        return self.views.get(self._place, View())

    @property
    def _place(self) -> Hashable:
        return self.part if self.listing is None else self.listing

    @property
    def chosen(self) -> Sequence[str]:
        """The keys of the columns that were chosen for the part; none for the default, and on a page."""
        return self.columns.get(self.part, ()) if self.listing is None else ()

    @property
    def is_scrolled(self) -> bool:
        """Whether columns are scrolled sideways, in place of being left out where there is no room."""
        return self.wide or bool(self.chosen)

    @property
    def links(self) -> Mapping[str, Link]:
        """What keys lead to from what is shown."""
        links = self.grid.links(self.selected) if self.grid is not None and self.selected is not None else {}
        if not self.pages:
            return links
        return {**links, **self.board.links} if self.listing in (None, self.pages[-1]) else self.board.links

    @property
    def selected(self) -> Any:
        """The selected row, None if there is none."""
        return self.rows[self.view.at] if self.rows else None

    @property
    def record(self) -> Any:
        """The selected row as JSON, or the page that one of a page's rows has opened."""
        page = self.board.page
        if self.back == "page" and self.listing is not None and isinstance(page, Result):
            return page.data
        return self.grid.record(self.selected) if self.grid is not None else None

    @property
    def query(self) -> Query:
        """The query for what is on the screen."""
        page = self.pages[-1] if self.pages else None
        rows = self.height - _FRAME if self.pages else 0
        part = self.part if self.part in self.start.asked else ""
        return Query(page, self.refresh, self.position, rows, part)

    def with_view(self, **changes: Any) -> "Model":
        """Return the state with another view of the part that is shown."""
        return self._replace(views={**self.views, self._place: self.view._replace(**changes)})


def build_first_model(start: Start, interval: int, times: Sequence[float] = ()) -> Model:
    """Return the state before the first answer.

    interval: ns between two rounds. times: those of a replay's rounds, seconds since 1970.
    Raises ValueError for a filter that is not valid.
    """
    return Model(
        start,
        interval,
        part=start.part,
        filter=start.filter,
        search=parse_filter(start.filter),
        faults=start.faults,
        times=times,
        position=-1 if times else 0,
    )


def with_board(model: Model, board: Board) -> Model:
    """Return the state after an answer. The selected row stays selected, even when it has moved."""
    if board.number != model.board.number:
        model = model._replace(before=model.board, grid_before=model.grid)
    if board.page_key is None:
        model = model._replace(plain=board._replace(page=None))
    elif not model.pages or board.page_key != model.pages[-1]:
        board = model.plain  # the answer for a page that is closed
    model = model._replace(board=board)
    keys = [part.key for part in board.parts]
    if model.part not in keys and keys:
        return with_part(model, keys[0])
    if model.pages and isinstance(board.page, Grid):
        return _show_listing(model, board.page)
    if model.pages and board.page is not None and model.mode == "table":
        model = model._replace(mode="page")  # the rows of a page are gone
    if model.listing is not None:
        return model
    grid = _build_grid(board, model.part)
    if grid is not None and model.grid is not None:
        grid.follow(model.grid)
    return arrange(model._replace(grid=grid))


def _show_listing(model: Model, grid: Grid) -> Model:
    """Return the state with the rows of the open page."""
    if model.listing is None:
        model = model._replace(below=model, filter="", search=None, faults=False, within=None)
    mode: Mode = "table" if model.mode == "page" else model.mode
    return arrange(model._replace(listing=model.pages[-1], grid=grid, grid_before=None, mode=mode))


def open_page(model: Model, page: Hashable, *, replaces: bool = False) -> Model:
    """Return the state with a page opened. replaces: in the place of the one that is open."""
    below = model.pages[:-1] if replaces else model.pages
    model = move_to(model, model.view.at)._replace(mode="page", page_top=0, board=model.plain)
    if replaces and model.listing is not None and model.listing == model.pages[-1]:
        model = close_listing(model)
    return model._replace(pages=(*below, page))


def close_page(model: Model) -> Model:
    """Return the state without the page on top."""
    pages = model.pages[:-1]
    if model.listing is not None and model.listing not in pages:
        model = close_listing(model)
    is_table = not pages or pages[-1] == model.listing
    return model._replace(pages=pages, page_top=0, mode="table" if is_table else "page", board=model.plain)


def close_listing(model: Model) -> Model:
    """Return the state with the part in place of a page's rows, as it was."""
    before = model.below
    if before is None:
        return model
    model = model._replace(
        listing=None,
        below=None,
        grid=_build_grid(model.board, model.part),
        filter=before.filter,
        search=before.search,
        faults=before.faults,
        within=before.within,
    )
    return arrange(model)


def with_part(model: Model, key: str) -> Model:
    """Return the state with another part shown, and all of its rows; its page is closed."""
    model = close_listing(model)
    model = model._replace(part=key, mode="table", pages=(), page_top=0, within=None, origin="")
    model = model._replace(board=model.plain)
    return arrange(
        model._replace(grid=_build_grid(model.board, key), grid_before=_build_grid(model.before, key))
    )


def show_detail(model: Model) -> Model:
    """Return the state with only the rows of another part that belong to the selected one; or, where that is
    shown, the state from which it was chosen."""
    if model.within is not None:
        return with_part(model, model.origin)
    if model.grid is None or model.selected is None:
        return model
    detail = model.grid.detail(model.selected)
    if detail is None:
        return model
    origin = move_to(model, model.view.at)
    shown = with_part(origin, detail.part)._replace(within=detail, origin=model.part)
    return arrange(shown.with_view(selected=None, at=0, top=0))


def with_size(model: Model, width: int, height: int) -> Model:
    """Return the state in a terminal of another size."""
    return model._replace(width=width, height=height)


def with_filter(model: Model, text: str) -> Model:
    """Return the state with another filter. An invalid one is reported, and the last valid one is kept."""
    try:
        search = parse_filter(text)
    except ValueError as error:
        return model._replace(filter=text, notice=str(error))
    return arrange(model._replace(filter=text, search=search, notice=""))


def arrange(model: Model) -> Model:
    """Return the state with its rows filtered and sorted again."""
    grid = model.grid
    if grid is None:
        return model._replace(rows=())
    view = model.view
    rows = list(grid.rows)
    if model.within is not None:
        rows = [row for row in rows if grid.owner(row) == model.within.owner]
    if model.faults:
        rows = [] if grid.is_fine else [*filter(grid.is_wrong, rows)]
    if model.search is not None:
        rows = model.search.select(rows, grid.list_words(rows))
    order = sort_key(model)
    column = next((candidate for candidate in grid.columns if candidate.key == order), None)
    if column is None and not grid.is_fine:
        marks = [*map(grid.is_wrong, rows)]
        wrong = [*compress(rows, marks)]
        right = [*compress(rows, map(not_, marks))] if wrong else rows
        wrong.sort(key=grid.level, reverse=not view.reverse)
        rows = right + wrong if view.reverse else wrong + right
    elif column is not None:
        values = [*map(column.get_raw, rows)]
        types = {*map(type, values)}
        keys = values if types <= _NUMBERS else [*map(_make_orderable, values)]
        known: Sequence[int] = range(len(rows))
        unknown: list[Any] = []
        if NoneType in types:
            known = [place for place in known if values[place] is not None]
            unknown = [row for row, value in zip(rows, values, strict=True) if value is None]
        is_text = column.kind in ("text", "prose", "url", "time")
        known = sorted(known, key=keys.__getitem__, reverse=view.reverse == is_text)
        rows = [*map(rows.__getitem__, known), *unknown]
    index = max(0, min(view.at, len(rows) - 1))
    if view.selected is not None and rows and grid.key(rows[index]) != view.selected:
        index = next((n for n, key in enumerate(map(grid.key, rows)) if key == view.selected), index)
    if model.listing is None:
        model = model._replace(counts={**model.counts, model.part: len(rows)})
    return model._replace(rows=rows).with_view(at=index)


def sort_key(model: Model) -> str:
    """Return the key of the column that rows are sorted by; empty for problems first."""
    order = model.view.sort or ("" if model.listing is not None else model.start.sort)
    return "" if order == "trouble" else order


def sort_keys(model: Model) -> list[str]:
    """Return the keys of the columns that rows can be sorted by, in the order of the columns."""
    if model.grid is None:
        return []
    return ["trouble", *(column.key for column in model.grid.columns if column.kind != "trend")]


def move_to(model: Model, index: int) -> Model:
    """Return the state with another row selected."""
    if model.grid is None or not model.rows:
        return model
    index = max(0, min(index, len(model.rows) - 1))
    return model.with_view(at=index, selected=model.grid.key(model.rows[index]))


def step_interval(model: Model, by: int) -> Model:
    """Return the state with the next longer (1) or shorter (-1) interval."""
    longer = [interval for interval in INTERVALS if interval > model.interval + MS]
    shorter = [interval for interval in INTERVALS if interval < model.interval - MS]
    if by > 0 and longer:
        return model._replace(interval=longer[0])
    if by < 0 and shorter:
        return model._replace(interval=shorter[-1])
    return model


def step_replay(model: Model, by: int) -> Model:
    """Return the paused state of a replay, moved by some rounds."""
    return _move_to_round(model, model.position + by)._replace(paused=True)


def tick(model: Model) -> Model:
    """Return the state of a replay in the next round; at the end it pauses."""
    if not model.times or model.paused:
        return model
    if model.position + 1 >= len(model.times):
        return model._replace(paused=True)
    return _move_to_round(model, model.position + 1)


def seek(model: Model, text: str) -> Model:
    """Return the state of a replay at a time: `06:57`, RFC 3339, or `-10m` relative to the current round."""
    now = model.times[model.position]
    text = text.strip()
    try:
        if text[:1] in ("-", "+"):
            span = parse_duration(text[1:]) / SECOND
            target = now + span if text[0] == "+" else now - span
        elif re.fullmatch(r"\d\d?:\d\d(:\d\d)?", text):
            day = format_time(seconds_to_ns(now))[:10]
            target = parse_time(f"{day}T{text:0>5}").timestamp()
        else:
            target = parse_time(text).timestamp()
    except (ValueError, OverflowError):
        return model._replace(notice=f"{text!r} is not a time: write 06:57, 2026-11-21T06:57:05Z or -10m")
    return _move_to_round(model, bisect_left(model.times, target))


def change_speed(model: Model, factor: float) -> Model:
    """Return the state of a replay with a higher or lower speed."""
    return model._replace(speed=max(0.125, min(64.0, model.speed * factor)))


def _move_to_round(model: Model, position: int) -> Model:
    return model._replace(position=max(0, min(position, len(model.times) - 1)))


def _build_grid(board: Board, key: str) -> Grid | None:
    return next((part.build() for part in board.parts if part.key == key), None)


def _make_orderable(value: Any) -> Any:
    """Return a value that can be compared: texts without regard to case, lists as text."""
    if isinstance(value, str):
        return value.lower()
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value)).lower()
    return value
