"""Which rows of `jsctl report` are shown: those of a part, that match a filter, that are wrong."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.monitor.report.figures.lists import FIGURES, build_recorder, list_figures
from jsctl.monitor.report.listings import LISTED
from jsctl.monitor.report.tracking import Tracker
from jsctl.monitor.trouble import find_level
from jsctl.views.board import Filter
from jsctl.views.shared.figures import Line

LISTS = tuple(FIGURES)
"""The lists of a report, in its order. Each is a part."""

EMPTY = {
    "consumers": "there are no consumers, or none was listed yet",
    "servers": "no cluster is known; a login of the system account shows all servers",
    "accounts": "this login is not allowed to ask about its account",
    **{part: f"there are no {listed.title.lower()}" for part, listed in LISTED.items()},
}
"""What is shown in the place of a list without rows."""

_RECORDERS = {kind: build_recorder(list_figures(kind)) for kind in LISTS}
_TEXTS = {
    kind: [
        figure.build_reader(figure.table)
        for figure in own
        if figure.is_text and figure.title and figure.table
    ]
    for kind, own in FIGURES.items()
}


Lines = Mapping[str, Sequence[Line] | None]
"""The rows of a report's lists; None for one that was not asked for, or may not be looked at."""

_SORT_KEYS = {
    kind: {
        name: figure.build_reader()
        for figure in own
        if figure.is_number
        for name in (figure.key, figure.sort)
        if name
    }
    for kind, own in FIGURES.items()
}
SORTS = list(
    dict.fromkeys(
        (
            "name",
            "trouble",
            *(name for keys in _SORT_KEYS.values() for name in keys),
            *(name for listed in LISTED.values() for name in listed.sorts),
        )
    )
)
"""What `--sort` takes."""


def build_lines(tracker: Tracker, sort: str) -> Lines:
    """Return all rows of a place.

    sort: `name`; otherwise the largest come first, or with `trouble` the worst. A list that has no such
    column stays sorted by name.
    """
    tracked = (
        tracker.streams or (),
        tracker.links or (),
        tracker.consumers,
        tracker.servers,
        tracker.accounts,
    )
    return {
        kind: None if lines is None else _build_rows(kind, lines, sort)
        for kind, lines in zip(LISTS, tracked, strict=True)
    }


def _build_rows(kind: str, lines: Sequence[Any], sort: str) -> list[Line]:
    record = _RECORDERS[kind]
    return [Line(line, record(line), find_level(line.troubles)) for line in _sort_lines(kind, lines, sort)]


def _sort_lines(kind: str, lines: Sequence[Any], sort: str) -> Sequence[Any]:
    """Sort lines that are in the order of their names."""
    if sort == "trouble":
        return sorted(lines, key=lambda line: -find_level(line.troubles))
    key = _SORT_KEYS[kind].get(sort)
    return lines if key is None else sorted(lines, key=lambda line: -(key(line) or 0))


class Choice(NamedTuple):
    """part: one of LISTS, `problems`, or empty for all. problems: only what is wrong. search: of texts."""

    part: str = ""
    problems: bool = False
    search: Filter | None = None

    def choose(self, lines: Lines, place: str) -> Lines:
        """Return the chosen rows. place: its title, which the filter searches, too; empty for a report on one
        place."""
        return {
            kind: None if rows is None else self._choose_rows(kind, rows, place)
            for kind, rows in lines.items()
        }

    def _choose_rows(self, kind: str, rows: Sequence[Line], place: str) -> Sequence[Line]:
        if self.part not in ("", "problems", kind):
            return []
        is_wrong_only = self.problems or self.part == "problems"
        return [
            row
            for row in rows
            if (row.level or not is_wrong_only)
            and (self.search is None or self.search.takes(_list_words(kind, row, place)))
        ]


def _list_words(kind: str, row: Line, place: str) -> str:
    """Return the texts of a row, as on the screen."""
    words = [place] if place else []
    for read in _TEXTS[kind]:
        value = read(row.line)
        words += value if isinstance(value, list) else [value] if value else []
    return " ".join([*words, *row.record["trouble"]])
