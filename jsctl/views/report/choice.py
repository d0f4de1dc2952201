"""Which rows of `jsctl report` are shown: those of a part, that match a filter, that are wrong."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from jsctl.monitor.report.lines import ConsumerLine, LinkLine, StreamLine
from jsctl.monitor.report.tracking import Tracker
from jsctl.monitor.trouble import find_level
from jsctl.views.board import Filter
from jsctl.views.report.records import Line, consumer_line, link_line, stream_line

T = TypeVar("T", StreamLine, LinkLine, ConsumerLine)

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


_SORT_KEYS: Mapping[str, Mapping[str, Callable[[Any], float | None]]] = {
    "streams": {
        "messages": lambda line: line.row.messages,
        "bytes": lambda line: line.row.bytes,
        "rate": lambda line: line.rate,
    },
    "replication": {"lag": lambda line: line.row.lag},
    "consumers": {"lag": lambda line: line.unprocessed},
}


def build_lines(tracker: Tracker, sort: str) -> Lines:
    """Return all rows of a place.

    sort: `name`; otherwise the largest come first, or with `trouble` the worst. A list that has no such
    column stays sorted by name.
    """
    consumers = tracker.consumers
    return Lines(
        [stream_line(line) for line in _sort_lines("streams", tracker.streams or (), sort)],
        [link_line(line) for line in _sort_lines("replication", tracker.links or (), sort)],
        None
        if consumers is None
        else [consumer_line(line) for line in _sort_lines("consumers", consumers, sort)],
    )


def _sort_lines(kind: str, lines: Sequence[T], sort: str) -> Sequence[T]:
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
