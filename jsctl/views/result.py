"""What a command returns: data with its raw and its human form. Nothing here prints.

A `Result` holds the JSON document (`data`) and the parts that people see. Cells and fields carry raw
values; their `kind` says how people read them (`render.text`).
Named tuples, not dataclasses, which would cost every start 5 ms.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeVar

from jsctl.errors import ExitStatus, JsctlError

Kind = Literal[
    "text",  #: names and the like, cut in the middle where a terminal has no room
    "url",  #: cut only where no column is left to leave out
    "prose",  #: sentences, folded between words there
    "number",  #: digits as they are, without separators
    "count",  #: 200,004
    "bytes",  #: 1.1 KiB
    "duration",  #: ns, rounded: 2.17s
    "span",  #: ns, exact: 2m0s
    "ago",  #: ns since something; -1 means never
    "time",  #: an aware datetime or RFC 3339 text, shown in local time
    "limit",  #: a count; -1 or 0 means unlimited
    "bytes_limit",  #: bytes; -1 or 0 means unlimited
    "span_limit",  #: ns; 0 means unlimited
    "bool",
    "percent",  #: 0.25 is 25%
    "rate",  #: per second
    "trend",  #: numbers over time, the newest last, as small bars
]
_SPANS = frozenset({"duration", "span", "ago", "span_limit"})
_SMALLEST: Mapping[str, int] = {"ago": 0, "duration": 0, "limit": 1, "bytes_limit": 1, "span_limit": 1}
T = TypeVar("T")
Style = Literal["", "good", "warn", "bad", "dim", "bold"]


class Cell(NamedTuple):
    """A value with a form of its own: for what a column's kind cannot say."""

    raw: Any
    shown: str
    style: Style = ""


class Column(NamedTuple):
    """A column of a table. key: the name of the value in CSV and JSON; see `data_key`. is_payload: the values
    are bytes or text.

    sort: its names in `--sort`. read: returns the value of a row, or a Cell; by default, the attribute `key`.
    raw: returns the value, where that takes less time than to take it out of a Cell. path: the attribute of
    a row's line that has a value where the column has one; empty for unknown. rank: returns what rows are
    sorted by, where that is not the value. total: computes the footer's value from those of all rows.

    For people: optional: left out if it has no value in any row. hideable: how soon a narrow terminal leaves
    it out, the highest first, 0 for never. On a live screen: wide: shown only when all columns are asked for.
    quiet: its changes are not highlighted.
    """

    title: str
    key: str
    kind: Kind = "text"
    is_payload: bool = False
    sort: Sequence[str] = ()
    read: Callable[[Any], Any] | None = None
    raw: Callable[[Any], Any] | None = None
    path: str = ""
    rank: Callable[[Any], Any] | None = None
    wide: bool = False
    optional: bool = False
    quiet: bool = False
    hideable: int = 0
    total: Callable[[Sequence[Any]], Any] | None = None

    @property
    def get(self) -> Callable[[Any], Any]:
        """What returns the value of a row, or its Cell."""
        return self.read or attrgetter(self.key)

    @property
    def get_raw(self) -> Callable[[Any], Any]:
        """What returns the raw value of a row."""
        get = self.get
        return self.raw or (lambda row: _get_raw(get(row)))

    def get_rank(self, row: Any) -> Any:
        """Return what rows are sorted by."""
        return self.rank(row) if self.rank else self.get_raw(row)

    @property
    def data_key(self) -> str:
        """The name of the value in CSV and JSON: `idle_ns` for a duration."""
        return f"{self.key}_ns" if self.kind in _SPANS and not self.key.endswith("_ns") else self.key

    @property
    def data_keys(self) -> tuple[str, ...]:
        """The names of the values in CSV and JSON: two for payloads, of which one has no value."""
        if not self.is_payload:
            return (self.data_key,)
        from jsctl.jetstream.message.payload import name_of_base64  # only where it is needed

        return self.key, name_of_base64(self.key)

    def data_values(self, value: Any) -> tuple[Any, ...]:
        """Return the raw forms of a value, one for each of `data_keys`."""
        if not self.is_payload:
            return (self.data_value(value),)
        from jsctl.jetstream.message.payload import encode_field

        raw = _get_raw(value)
        fields = encode_field(self.key, raw) if isinstance(raw, bytes) else {self.key: raw}
        return tuple(fields.get(key) for key in self.data_keys)

    def data_value(self, value: Any) -> Any:
        """Return the raw form of a value; None for never and for no limit."""
        raw = _get_raw(value)
        smallest = 0 if self.key.endswith("_ns") else _SMALLEST.get(self.kind)
        return None if smallest is not None and isinstance(raw, int) and raw < smallest else raw


def _get_raw(value: Any) -> Any:
    return value.raw if isinstance(value, Cell) else value


def build_cells(rows: Iterable[Any], columns: Sequence[Column]) -> list[list[Any]]:
    """Return the values of each row, one for each column."""
    readers = [column.get for column in columns]
    return [[read(row) for read in readers] for row in rows]


def build_footer(rows: Sequence[Any], columns: Sequence[Column]) -> list[Any]:
    """Return the totals of rows: those of the columns that have one."""
    return [column.total([*map(column.get_raw, rows)]) if column.total else "" for column in columns]


def count_distinct(values: Iterable[Any]) -> str:
    """Return how many different values there are, without empty ones, as the total of a column of names."""
    return str(len({*filter(None, values)}))


def recorder(keys: Sequence[str]) -> Callable[[object], dict[str, Any]]:
    """Return a function that returns a JSON object with these keys, from a row's attributes of the same
    names.

    Durations have `_ns` after the name of their attribute; -1, for never and unlimited, becomes null.
    """
    values = attrgetter(*(key.removesuffix("_ns") for key in keys))
    return lambda row: dict(zip(keys, (None if value == -1 else value for value in values(row)), strict=True))


class LazySequence(Sequence[T]):
    """The result of `make` for each item, computed whenever it is read: long tables are in memory once."""

    def __init__(self, items: Sequence[Any], make: Callable[[Any], T]) -> None:
        self._items = items
        self._make = make

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        return map(self._make, self._items)

    def __getitem__(self, index: Any) -> Any:
        return (
            LazySequence(self._items[index], self._make)
            if isinstance(index, slice)
            else self._make(self._items[index])
        )


class Table(NamedTuple):
    """Rows of raw values (or Cells).

    footer: totals, for people only.
    empty: what people see in place of a table without rows; CSV still has its heading.
    rising: whether the last row is the most important one, next to the prompt; a screen puts it first.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    footer: Sequence[Any] | None = None
    empty: str = ""
    rising: bool = False

    def without_blanks(self) -> "Table":
        """Return the table without the optional columns that have no value."""
        blank = {
            index
            for index, column in enumerate(self.columns)
            if column.optional and not any(_get_raw(row[index]) for row in self.rows)
        }
        if not blank:
            return self
        columns = [column for index, column in enumerate(self.columns) if index not in blank]
        rows = [[cell for index, cell in enumerate(row) if index not in blank] for row in self.rows]
        footer = self.footer and [cell for index, cell in enumerate(self.footer) if index not in blank]
        return self._replace(columns=columns, rows=rows, footer=footer)

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries of raw values."""
        keys = self.data_head()
        return [dict(zip(keys, row, strict=True)) for row in self.data_rows()]

    def data_head(self) -> list[str]:
        """Return the names of the raw values of a row."""
        return [key for column in self.columns for key in column.data_keys]

    def data_rows(self) -> Iterator[list[Any]]:
        """Yield the rows as raw values."""
        if not any(column.is_payload for column in self.columns):
            for row in self.rows:
                yield [column.data_value(value) for column, value in zip(self.columns, row, strict=True)]
            return
        for row in self.rows:
            pairs = zip(self.columns, row, strict=True)
            yield [raw for column, value in pairs for raw in column.data_values(value)]


def build_table(title: str, columns: Sequence[Column], rows: Iterable[Any], **attrs: Any) -> Table:
    """Return the table of rows, whose columns read them; with a footer where columns have totals. attrs: of
    the table."""
    rows = list(rows)
    if any(column.total for column in columns):
        attrs.setdefault("footer", build_footer(rows, columns))
    return Table(title, columns, build_cells(rows, columns), **attrs)


class Field(NamedTuple):
    """A line of an info page. A list value takes one line an item."""

    label: str
    value: Any
    kind: Kind = "text"


class Section(NamedTuple):
    """A part of an info page: its title, and its lines."""

    title: str
    fields: Sequence[Field]


class InfoPage(NamedTuple):
    """An info page: a heading, then sections of right-aligned labels. A section without a title
    comes first."""

    heading: str
    sections: Sequence[Section]


class Text(NamedTuple):
    """Plain lines.

    style: colors the whole on a terminal. whole: a document or data, whose lines are never folded; sentences
    are folded between words on a narrow terminal. drawn: a tree, whose lines are cut in the middle there.
    """

    text: str
    style: Style = ""
    whole: bool = False
    drawn: bool = False


class Markdown(NamedTuple):
    """A page of Markdown: laid out on a terminal, as it is in a pipe."""

    text: str


class Lines(NamedTuple):
    """Lines in which names and other foreign text may be: none of it can begin a line of its own. `style` and
    `whole` as those of a Text."""

    lines: Iterable[str]
    style: Style = ""
    whole: bool = False


class Chart(NamedTuple):
    """Numbers over time, drawn as text.

    values: the newest last, None for an unknown one. style: a curve, bars or an area of dots. height: lines.
    label: formats a value at the axis of a curve.
    """

    caption: str
    values: Sequence[float | None]
    style: Literal["lines", "bars", "dots"] = "lines"
    height: int = 5
    label: Callable[[float], str] = str


class ChartStack(NamedTuple):
    """Charts one below the other, as high as a live screen lets them be."""

    charts: Sequence[Chart]


Part = Table | InfoPage | Text | Markdown | Lines | Chart


class _Unset:
    pass


UNSET = _Unset()


class Result(NamedTuple):
    """The result of a command.

    data: the JSON document, or a function that builds it when it is needed; by default the records of the
        tables: a list for one table, a mapping by title for several. A long list in it may be an iterator.
    table: what CSV and TSV hold, where people see no table.
    paged: whether a terminal shows it a screen at a time.
    is_report: whether its parts only say what was done, which no script asked for; see `Env.inform`.
    error: what ended the work early; it is raised after the result, which holds what was done until then, is
    shown.
    """

    parts: Sequence[Part] = ()
    data: Any = UNSET
    status: ExitStatus = ExitStatus.OK
    table: Table | None = None
    error: JsctlError | None = None
    paged: bool = False
    is_report: bool = False

    def document(self) -> Any:
        """Return the one JSON document that stands for this result."""
        if not isinstance(self.data, _Unset):
            return self.data() if callable(self.data) else self.data
        tables = self.tables()
        if len(tables) == 1:
            return tables[0].records()
        document: Mapping[str, Any] = {t.title.lower().replace(" ", "_"): t.records() for t in tables}
        return document

    def tables(self) -> list[Table]:
        """Return the tables among the parts."""
        return [part for part in self.parts if isinstance(part, Table)]


def report(sentence: str, data: Any) -> Result:
    """Return a result that says what was done, in a sentence for people; `data` is its document."""
    return Result([Text(sentence)], data, is_report=True)


def list_names(names: Sequence[str]) -> Result:
    """Show one name per line."""
    return Result([Lines(names, whole=True)] if names else [], data=list(names))
