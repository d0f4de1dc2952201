"""Figures are declared once, and have one value in every form."""

import asyncio
from datetime import UTC, datetime, timedelta

from jsctl.base.units import format_rfc3339
from jsctl.monitor.report.figures.lists import FIGURES
from jsctl.monitor.report.overview import Overview
from jsctl.monitor.report.places import Place
from jsctl.monitor.report.tracking import Tracker
from jsctl.monitor.stream.rows import ReplicationRow, build_stream_row
from jsctl.views.report import stream_grids
from jsctl.views.report.choice import build_lines

AT = datetime(2026, 11, 21, tzinfo=UTC)


def overview(seconds: int) -> Overview:
    """A stream that stores ten messages a second, a lag and a consumer that catch up, ever faster."""
    at = AT + timedelta(seconds=seconds)
    info = {
        "config": {"name": "S", "storage": "file"},
        "created": "2026-01-01T00:00:00Z",
        "state": {"messages": 10 * seconds, "bytes": 100 * seconds, "last_seq": 10 * seconds, "first_seq": 1},
    }
    lag = 10_000 - seconds**2
    link = ReplicationRow("", "", "S", "source", "", "O", "", -1, lag, "")
    consumer = {"stream_name": "S", "name": "C", "config": {}, "num_pending": lag, "ts": format_rfc3339(at)}
    return Overview(at, [build_stream_row(info)], {}, [link], [consumer], {})


def test_reports_and_the_screen_have_one_value_of_a_figure() -> None:
    tracker = Tracker()
    for number in range(5):
        asyncio.run(tracker.add(number * 10.0, overview(number * 10)))
    place = Place("c", "", (), 1.0, "", "", tracker)
    lines = build_lines(tracker, "name")
    for grid, rows in (
        (stream_grids.streams([place]), lines.streams),
        (stream_grids.links([place]), lines.replication),
        (stream_grids.consumers([place]), lines.consumers),
    ):
        [row], [record] = rows or [], [grid.record(row) for row in grid.rows]
        assert row.record.items() <= record.items()
    assert lines.streams[0].record["message_rate"] == 10
    assert lines.replication[0].record["lag_rate"] == (lines.consumers or [])[0].record["unprocessed_rate"]


def test_no_two_figures_have_one_name() -> None:
    for figures in FIGURES.values():
        metrics = [figure.metric.name for figure in figures if figure.metric]
        for names in ([figure.key for figure in figures], metrics):
            assert len(set(names)) == len(names)
