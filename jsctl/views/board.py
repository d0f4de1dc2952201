"""What a live screen with keys shows: parts with a table each, and pages of one row. Pure data.

A `Grid` keeps its rows as they are and says how a column reads them: of 10,000 rows only those on the screen
become text.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import compress, repeat
from operator import itemgetter, not_
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

from jsctl.base.patterns import compile_pattern
from jsctl.base.units import SECOND
from jsctl.errors import BadInput, ExitStatus
from jsctl.monitor.trouble import FINE
from jsctl.views.result import Cell, ChartStack, Column, Lines, Result, Table, Text

T = TypeVar("T")


class Detail(NamedTuple):
    """The rows of another part that belong to a row, such as the consumers of a stream. part: its key. owner:
    what its grid's `owner` returns for them. title: what they belong to."""

    part: str
    owner: Hashable
    title: str


class Link(NamedTuple):
    """What a key leads to.

    title: for the line of keys. help: for the list of keys. page: what it opens. replaces: whether that takes
    the place of the open page. ask: what the user types first; empty for nothing. answer: returns the page
    for what was typed; raises ValueError. line: the command line that does it, of a key that changes
    something; it is shown in place of the page unless the screen allows changes.
    """

    title: str
    help: str
    page: Hashable = None
    replaces: bool = False
    ask: str = ""
    answer: Callable[[str], Hashable] | None = None
    line: str = ""


class Grid:
    """A table of a screen.

    Args:
        columns: in their order.
        rows: of any type; the functions read them.
        key: identifies a row, the same in every round.
        level: FINE, WARN or BAD; problems come first. is_wrong: whether it is not FINE, where that takes less
            time. is_fine: whether no row is wrong, where that is known.
        dim: whether the row is from before a failure.
        record: returns the row as JSON. line: returns a command line that shows or fixes it. page: returns
            what `enter` opens, None for nothing. detail: returns what `c` leads to, None for nothing. links:
            returns what further keys lead to. owner: identifies what a row belongs to.
        noun: what rows are called, in the plural. empty: shown if there are none. fixed: the key of a column
            that is shown first whatever columns the user chooses; empty for none. find_filled: returns
            whether a column has a value in any row, where that is known; None where it is not.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        rows: Sequence[Any],
        *,
        key: Callable[[Any], Hashable],
        level: Callable[[Any], int] = lambda row: FINE,
        is_wrong: Callable[[Any], Any] | None = None,
        is_fine: bool = False,
        dim: Callable[[Any], bool] = lambda row: False,
        record: Callable[[Any], Any] = lambda row: None,
        line: Callable[[Any], str] = lambda row: "",
        page: Callable[[Any], Hashable | None] = lambda row: None,
        detail: Callable[[Any], Detail | None] = lambda row: None,
        links: Callable[[Any], Mapping[str, Link]] = lambda row: {},
        owner: Callable[[Any], Hashable] = lambda row: None,
        noun: str = "rows",
        empty: str = "",
        fixed: str = "",
        find_filled: Callable[[Column], bool | None] = lambda column: None,
    ) -> None:
        self.columns = columns
        self.rows = rows
        self.key = key
        self.level = level
        self.is_wrong = is_wrong or level
        self.is_fine = is_fine
        self.dim = dim
        self.record = record
        self.line = line
        self.page = page
        self.detail = detail
        self.links = links
        self.owner = owner
        self.noun = noun
        self.empty = empty
        self.fixed = fixed
        self._find_filled = find_filled
        self._text_columns = [column for column in columns if column.kind in ("text", "prose", "url")]
        self._shown: dict[Hashable, Any] = {}  #: rows that were on the screen, by their key
        self._longest: dict[str, int] = {}
        self._with_values: dict[str, bool] = {}

    def has_values(self, column: Column) -> bool:
        """Return whether a column has a value in any row."""
        if column.key not in self._with_values:
            known = self._find_filled(column)
            self._with_values[column.key] = any(map(column.get_raw, self.rows)) if known is None else known
        return self._with_values[column.key]

    def find_longest(self, column: Column) -> int:
        """Return the characters of the longest text in a column."""
        if column.key not in self._longest:
            values = list(map(column.get_raw, self.rows))
            if {*map(type, values)} != {str}:
                values = [value for value in values if isinstance(value, str)]
            self._longest[column.key] = max(map(len, values), default=0)
        return self._longest[column.key]

    def follow(self, before: "Grid") -> None:
        """Take over how long texts are from the same table, one answer earlier, if it has as many rows: those
        on the screen are measured anyway."""
        if len(before.rows) == len(self.rows):
            self._longest = before._longest

    def show(self, row: Any) -> Hashable:
        """Note that a row is on the screen; return its key."""
        key = self.key(row)
        self._shown[key] = row
        return key

    def find(self, key: Hashable) -> Any:
        """Return the row with a key, None if there is none. All rows are indexed only for one that was not on
        the screen: for 7,500 that takes 3 ms."""
        return self._shown.get(key) or self._by_key.get(key)

    @cached_property
    def _by_key(self) -> Mapping[Hashable, Any]:
        return dict(zip(map(self.key, self.rows), self.rows, strict=True))

    def texts(self, row: Any) -> list[str]:
        """Return the texts of a row."""
        return [_to_words(column.get(row)) for column in self._text_columns]

    def list_words(self, rows: Sequence[Any]) -> Iterable[str]:
        """Return the texts of each row, which a filter searches. Column by column, without those that have no
        value, it takes a third of the time for 10,000 rows."""
        texts: list[Iterable[str]] = []
        for column in self._text_columns:
            values = [*map(column.get, rows)] if self.has_values(column) else [""] * len(rows)
            texts.append(values if {*map(type, values)} == {str} else map(_to_words, values))
        return map(" ".join, zip(*texts, strict=True)) if texts else repeat("", len(rows))


def _to_words(value: Any) -> str:
    if isinstance(value, str):
        return value
    return value.shown if isinstance(value, Cell) else "" if value is None else str(value)


class Part(NamedTuple):
    """One of the tables of a board, chosen by its number. build: makes the table when it is shown. total: of
    its rows, if that is known without; None for the number when it was last shown. is_vital: whether that
    stays where there is no room for others."""

    key: str
    title: str
    build: Callable[[], Grid]
    total: int | None = None
    is_vital: bool = False


class Board(NamedTuple):
    """The data of a screen at one time.

    number: of the round, -1 before the first; changes since the round before are highlighted. heading: a line
    at the top. notices: lines below it, such as what cannot be reached. page: the content of the open page;
    a Grid has rows to choose from. links: what keys lead to from that page. line: its command line.
    page_key: which page it is. picture: what is drawn if there are no parts.
    """

    parts: Sequence[Part]
    heading: str = ""
    notices: Sequence[Text] = ()
    number: int = 0
    page: Result | Grid | None = None
    links: Mapping[str, Link] = MappingProxyType({})
    line: str = ""
    page_key: Hashable = None
    picture: ChartStack | Result | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the board is from before the first answer."""
        return self.number < 0


class Query(NamedTuple):
    """What is on the screen. page: what `enter` opened, None for no page. part: the part that is shown, if it
    is fetched only then. again: counts the requests to fetch
    at once. position: the round that a replay shows, from 0. rows: for which a page has room; 0 without one.
    """

    page: Hashable | None = None
    again: int = 0
    position: int = 0
    rows: int = 0
    part: str = ""


class Fetch(Protocol):
    """A function that fetches the data of the screen once. `query` says which page is open at the time of
    the call.

    It yields a board after each answer, and ends when all is answered, at the latest after the interval.
    """

    def __call__(self, query: Callable[[], Query]) -> AsyncIterator[Board]: ...


class Start(NamedTuple):
    """How a screen begins, as the flags say. title: the command. sort: the key of a column. marks: styles
    and texts beside the title. allows_changes: whether keys may change something. asked: the parts that are
    fetched only while they are shown."""

    title: str
    part: str = ""
    filter: str = ""
    sort: str = ""
    faults: bool = False
    marks: Sequence[tuple[str, str]] = ()
    allows_changes: bool = False
    asked: Sequence[str] = ()


class Live(NamedTuple):
    """A live screen.

    fetch: fetches the data, every `interval` (ns), for a number of `rounds` (0 for no end). close: awaited at
    the end. times: of the rounds of a replay, in seconds since 1970; empty for live data. status: called
    after each round; a status other than OK ends the screen, and is its exit status. is_watching: whether
    rounds are for more than the screen, so that they go on in a pause, unseen.
    """

    fetch: Fetch
    start: Start
    interval: int
    rounds: int = 0
    close: Callable[[], Awaitable[None]] | None = None
    times: Sequence[float] = ()
    status: Callable[[], ExitStatus] = lambda: ExitStatus.OK
    is_watching: bool = False


def table_board(result: Result, number: int) -> Board:
    """Return the board of a result: a part for each of its tables, its texts above."""
    tables = result.tables()
    texts = [part for part in result.parts if isinstance(part, Text | Lines)]
    notices = [
        Text(line, part.style)
        for part in texts
        for line in (part.text.splitlines() if isinstance(part, Text) else part.lines)
    ]
    parts = [
        Part(str(index), table.title, partial(table_to_grid, table)) for index, table in enumerate(tables)
    ]
    return Board(parts, notices=notices, number=number)


def table_live(fetch: Callable[[], Awaitable[Result]], start: Start, interval: int, rounds: int) -> Live:
    """Return a live screen of a command's result, which `fetch` builds again each round; all of its tables
    react to keys.

    interval: ns. rounds: see Live.
    """
    number = 0

    async def board(query: Callable[[], Query]) -> AsyncIterator[Board]:
        nonlocal number
        result = await fetch()
        number += 1
        yield table_board(result, number)

    return Live(board, start, interval, rounds)


class Gauge(Protocol):
    """Counts of events, in place of the events. command: the title of their screen."""

    command: str

    def tick(self) -> None:
        """Record that a second has passed."""

    def board(self, number: int) -> Board:
        """Return what a live screen shows. number: of its round."""

    def line(self) -> str:
        """Return what the second adds if stdout is not a terminal; empty for nothing."""


def gauge_live(gauge: Gauge) -> Live:
    """Return a live screen of a gauge, without requests of its own."""
    number = 0

    async def board(query: Callable[[], Query]) -> AsyncIterator[Board]:
        nonlocal number
        number += 1
        yield gauge.board(number)

    return Live(board, Start(gauge.command), SECOND)


_WORST = {"bad": 2, "warn": 1}


def table_to_grid(table: Table) -> Grid:
    """Return a table of a result as a grid, whose rows are identified by their first two names."""
    columns = [
        column._replace(
            key=column.data_key,
            read=itemgetter(at),
            quiet=column.kind in ("ago", "time"),
        )
        for at, column in enumerate(table.columns)
    ]
    texts = [at for at, column in enumerate(table.columns) if column.kind in ("text", "url")][:2]

    def key(row: Sequence[Any]) -> Hashable:
        return tuple(_to_words(row[at]) for at in texts or range(len(row)))

    def level(row: Sequence[Any]) -> int:
        styles = (cell.style for cell in row if isinstance(cell, Cell))
        return max((_WORST.get(style, 0) for style in styles), default=0)

    def record(row: Sequence[Any]) -> Any:
        return {
            key: raw
            for column, value in zip(table.columns, row, strict=True)
            for key, raw in zip(column.data_keys, column.data_values(value), strict=True)
        }

    return Grid(
        columns,
        table.rows[::-1] if table.rising else table.rows,
        key=key,
        level=level,
        record=record,
        empty=table.empty or "nothing to show",
    )


class Filter(NamedTuple):
    """A search: it keeps rows whose words match, or with `inverse` those whose words do not."""

    pattern: re.Pattern[str]
    inverse: bool

    def takes(self, words: str) -> bool:
        """Return whether a row with these words is shown."""
        return (self.pattern.search(words) is None) == self.inverse

    def select(self, rows: Sequence[T], words: Iterable[str]) -> list[T]:
        """Return the rows that are shown. words: of each row."""
        found = map(self.pattern.search, words)
        return [*compress(rows, map(not_, found) if self.inverse else found)]


def parse_filter(text: str) -> Filter | None:
    """Parse a regular expression, with `!` ahead for its inverse; return None for an empty one.

    Upper and lower case are the same unless it has a capital. Raises ValueError for one that is not valid.
    """
    inverse = text.startswith("!")
    body = text[1:] if inverse else text
    if not body:
        return None
    try:
        return Filter(compile_pattern(body, 0 if body != body.lower() else re.IGNORECASE), inverse)
    except BadInput as error:
        raise ValueError(str(error)) from None
