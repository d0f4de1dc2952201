"""Which rows of `jsctl report` are shown: those of a part, that match a filter, that are wrong."""

from collections.abc import Sequence
from typing import NamedTuple

from jsctl.monitor.report.rows import Report
from jsctl.views.board import Filter
from jsctl.views.report.records import Line, consumer_line, link_line, stream_line

LISTS = ("streams", "replication", "consumers")
"""The lists of a report, in its order. Each is a part."""

_TEXTS = (
    *("stream", "consumer", "kind", "api_prefix", "origin", "filters", "mode"),
    *("storage", "leader", "peers", "error", "trouble"),
)


class Lines(NamedTuple):
    """The rows of a report's lists. consumers: None when they were not asked for, or may not be listed."""

    streams: Sequence[Line] = ()
    replication: Sequence[Line] = ()
    consumers: Sequence[Line] | None = ()

    @property
    def all(self) -> Sequence[Line]:
        """The rows of all lists."""
        return [*self.streams, *self.replication, *(self.consumers or ())]


def build_lines(report: Report) -> Lines:
    """Return all rows of a report."""
    consumers = None if report.consumers is None else [consumer_line(row) for row in report.consumers]
    return Lines(
        [stream_line(row) for row in report.streams], [link_line(row) for row in report.links], consumers
    )


class Choice(NamedTuple):
    """part: one of LISTS, `problems`, or empty for all. problems: only what is wrong. search: of texts."""

    part: str = ""
    problems: bool = False
    search: Filter | None = None

    def choose(self, lines: Lines, place: str) -> Lines:
        """Return the chosen rows. place: its title, which the filter searches, too; empty for a report on one
        place."""
        return Lines(
            self._choose_rows("streams", lines.streams, place),
            self._choose_rows("replication", lines.replication, place),
            None if lines.consumers is None else self._choose_rows("consumers", lines.consumers, place),
        )

    def _choose_rows(self, kind: str, rows: Sequence[Line], place: str) -> Sequence[Line]:
        if self.part not in ("", "problems", kind):
            return []
        is_wrong_only = self.problems or self.part == "problems"
        return [
            row
            for row in rows
            if (row.level or not is_wrong_only)
            and (self.search is None or self.search.takes(_list_words(row, place)))
        ]


def _list_words(row: Line, place: str) -> str:
    """Return the texts of a row, as on the screen."""
    words = [place] if place else []
    for value in map(row.record.get, _TEXTS):
        words += value if isinstance(value, list) else [value] if value else []
    return " ".join(words)
