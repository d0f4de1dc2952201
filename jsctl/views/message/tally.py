"""Counts of received messages in place of the messages: `sub --report-subjects`, `sub --graph`."""

import time
from collections.abc import Sequence
from typing import Any

from jsctl.base.units import format_bytes, format_clock, pluralize
from jsctl.jetstream.message.receive import Received
from jsctl.views.board import Board, table_board
from jsctl.views.result import Chart, Column, Result, Table

_HEIGHT = 20  #: rows of all plots together
_MIN_HEIGHT = 3  #: rows of a plot at least


class SubjectReport:
    """A Gauge: messages and bytes by subject, the busiest first.

    by_subscription: by the subject filter that messages come through instead. top: rows that are shown.
    """

    command = "jsctl subscribe"

    def __init__(self, top: int, *, by_subscription: bool = False) -> None:
        self._top = top
        self._by_subscription = by_subscription
        self._counts: dict[str, list[int]] = {}  #: messages and bytes

    def add(self, batch: Sequence[Received]) -> None:
        """Count messages."""
        for message, _, subscription, _ in batch:
            key = subscription if self._by_subscription else message.subject
            count = self._counts.setdefault(key, [0, 0])
            count[0] += 1
            count[1] += len(message.data)

    def tick(self) -> None:
        """Do nothing: the counts are totals."""

    def line(self) -> str:
        """Return nothing: in a pipe the report comes at the end."""
        return ""

    def board(self, number: int) -> Board:
        """Return the report so far as a table with keys, and the totals above."""
        table = self.result().tables()[0]
        _, messages, size = table.footer or ("", 0, 0)
        subjects = pluralize(len(self._counts), "subject")
        heading = f"{pluralize(messages, 'message')}, {format_bytes(size)}, {subjects}"
        shown = Result([table._replace(empty="no messages yet")])
        return table_board(shown, number)._replace(heading=heading)

    def result(self) -> Result:
        """Return the report so far. Its document has all rows."""
        ordered = sorted(self._counts.items(), key=lambda entry: (-entry[1][0], entry[0]))
        columns = [
            Column("Subject", "subject"),
            Column("Message Count", "messages", "count"),
            Column("Bytes", "bytes", "bytes"),
        ]
        rows: list[list[Any]] = [[subject, *numbers] for subject, numbers in ordered]
        top = self._top
        footer = ["Totals", sum(row[1] for row in rows), sum(row[2] for row in rows)]
        title = "Top Subject Report" if top == 1 else f"Top {top} Active Subjects Report"
        if len(rows) > top:
            title += f", of {len(rows):,}"
        return Result([Table(title, columns, rows[:top], footer)], data=Table("", columns, rows).records())


class RateGraph:
    """A Gauge: messages per second of each subscription; of a stream, of each subject.

    subscriptions: the subject filters that are plotted from the start. plots: whether the output takes
    plots; else each second is a line.
    """

    command = "jsctl subscribe"

    def __init__(self, subscriptions: Sequence[str], *, plots: bool) -> None:
        self._rates: dict[str, list[int]] = {subscription: [] for subscription in subscriptions}
        self._counts: dict[str, int] = {}  #: messages of the current second
        self._plots = plots

    def add(self, batch: Sequence[Received]) -> None:
        """Count messages."""
        for received in batch:
            key = received.subscription
            self._counts[key] = self._counts.get(key, 0) + 1

    def tick(self) -> None:
        """Add the second that has passed to each plot."""
        for key in {**self._rates, **self._counts}:
            self._rates.setdefault(key, []).append(self._counts.get(key, 0))
        self._counts.clear()

    def line(self) -> str:
        """Return the last second of each subscription."""
        now = format_clock(time.time_ns())
        return "".join(f"{now}  {key}  {values[-1]}\n" for key, values in self._rates.items())

    def board(self, number: int) -> Board:
        """Return the plots for a screen."""
        return Board((), picture=self._build_picture())

    def _build_picture(self) -> Result:
        """Return the plots, the last second on the right."""
        height = max(_HEIGHT // max(len(self._rates), 1), _MIN_HEIGHT)
        charts = [
            Chart(f"{key}: {values[-1] if values else 0:,} / second", values, "bars", height)
            for key, values in self._rates.items()
        ]
        return Result(charts, data=self._rates)

    def result(self) -> Result | None:
        """Return what is shown last; nothing if each second was a line."""
        return self._build_picture() if self._plots else None
