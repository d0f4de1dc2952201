"""What a figure of a report is. No I/O.

Each is declared once, in the file of its list beside this one. What shows, stores or exports it follows: the
columns of `jsctl report` and of its screen, its JSON and the schema of that, `--filter` and `--fail-on`,
recordings, the tables of `jsctl export reports`, and the metrics of the exporter with their help.
"""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from jsctl.base.units import SECOND

Read = str | Callable[[Any], Any]


def read_known(name: str) -> Read:
    """Return what reads an attribute of a line in which a negative number is for none."""
    return lambda line: None if (value := getattr(line, name)) < 0 else value


class ColumnPlacement(NamedTuple):
    """A column. title, unit, read: of the figure where empty. at: its position. hideable: how soon a narrow
    terminal leaves it out, the highest first, 0 for never. key: for `--sort` on the screen. wide, optional,
    quiet: see Column."""

    title: str = ""
    unit: str = ""
    at: int = 50
    hideable: int = 50
    key: str = ""
    read: Read = ""
    wide: bool = False
    optional: bool = False
    quiet: bool = False


def build_placements(**attrs: Any) -> dict[str, Any]:
    """Return the columns of a figure for which a report and the screen have the same one.

    attrs: of ColumnPlacement."""
    placement = ColumnPlacement(**attrs)
    return {"table": placement, "screen": placement}


class Metric(NamedTuple):
    """A metric of the exporter. Spans and times become seconds, texts whether there is one. unknown: what it
    is if the figure has no value; None for no sample. also: a second name of it, which dashboards ask for."""

    name: str
    help: str
    unknown: float | None = None
    also: str = ""

    @property
    def names(self) -> Sequence[str]:
        """Its names."""
        return [self.name, self.also] if self.also else [self.name]


class Figure(NamedTuple):
    """A figure of a line.

    key: its name in JSON, conditions, recordings and tables. kind: its type in JSON, as in
    `schema/definitions.yaml`; empty for a column alone. title, unit: of its columns; a figure without a title
    has none, and the units are those of `views/shared/figures.py`. read: the attribute of a line that holds
    it, or what computes it. about: of the tables' columns. table, screen: its columns in a report and on the
    screen, None for none. own: its column in the report of the noun alone, such as `stream report`, whose
    JSON has it, too. listed: whether the JSON of reports has it; otherwise only the screen knows it.
    recorded: whether the JSON of the report of the noun has it although it has no column there, or no kind.
    sort: its name in `--sort`, beside its key. stored: its name in Spark's tables; for figures of a row of
    answers, that of the attribute.
    """

    key: str
    kind: str
    title: str = ""
    unit: str = "text"
    read: Read = ""
    about: str = ""
    metric: Metric | None = None
    table: ColumnPlacement | None = ColumnPlacement()
    screen: ColumnPlacement | None = ColumnPlacement()
    own: ColumnPlacement | None = None
    listed: bool = True
    recorded: bool = False
    sort: str = ""
    stored: str = ""

    @property
    def attribute(self) -> str:
        """The name of what it is in a row of answers."""
        return self.key.removesuffix("_ns")

    @property
    def is_stored(self) -> bool:
        """Whether rows of answers have it, so that recordings and tables do."""
        return self.read == f"row.{self.attribute}"

    @property
    def path(self) -> str:
        """The attribute of a line that holds it, empty if it is computed."""
        return "" if callable(self.read) else self.read or self.key

    @property
    def screen_path(self) -> str:
        """The attribute of a line that has a value where the screen's column has one; empty for unknown."""
        read = self.screen.read if self.screen is not None else ""
        return self.path if callable(read) else read or self.path

    @property
    def is_plain(self) -> bool:
        """Whether JSON has the attribute as it is."""
        return bool(self.path) and self.kind[:1] != "[" and not self.kind.startswith("ns")

    @property
    def table_column(self) -> str:
        """Its name in Spark's tables, empty if they do not have it."""
        return self.stored or (self.attribute if self.is_stored else "")

    @property
    def is_number(self) -> bool:
        """Whether rows may be sorted by it."""
        return self.kind.rstrip("?") in ("natural", "real", "ns")

    @property
    def is_text(self) -> bool:
        """Whether a filter may search it."""
        return self.kind.strip("[]?") not in ("natural", "real", "ns", "time", "bool", "")

    def build_reader(self, shown: ColumnPlacement | None = None) -> Callable[[Any], Any]:
        """Return what reads it from a line, for JSON or for a column; -1, for never, is null."""
        read = (shown.read if shown is not None else "") or self.read or self.key
        get = read if callable(read) else attrgetter(read)
        if not self.kind.startswith("ns"):
            return get
        return lambda line: None if (span := get(line)) is None or span < 0 else span


def to_seconds(span: int | None) -> float | None:
    """Return a span in ns as seconds."""
    return None if span is None else round(span / SECOND, 1)
