"""Figures are declared once, and have one value in every form."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.base.units import format_rfc3339
from jsctl.monitor.consumer.rows import ConsumerLine, build_consumer_line
from jsctl.monitor.counters import Trend
from jsctl.monitor.report.figures.lists import FIGURES, list_figures, list_own_figures
from jsctl.monitor.report.lines import StreamLine
from jsctl.monitor.report.overview import Hosting, Overview
from jsctl.monitor.report.places import Place
from jsctl.monitor.report.tracking import Tracker
from jsctl.monitor.stream.rows import ReplicationRow, build_silent_row, build_stream_row
from jsctl.monitor.trouble import Trouble
from jsctl.schema.outputs import load_outputs
from jsctl.views.report import board
from jsctl.views.report.choice import build_lines
from jsctl.views.shared.figures import UNITS, ago_cell, rate_cell

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
    consumer |= {"delivered": {"consumer_seq": 3 * seconds}, "ack_floor": {"consumer_seq": 2 * seconds}}
    account = {"storage": 100 * seconds, "limits": {"max_storage": 10_000}, "api": {"total": seconds}}
    return Overview(
        at, [build_stream_row(info)], {}, [link], [consumer], account, hosting={"n1": Hosting(1, 2, 0, 0, 7)}
    )


def test_reports_and_the_screen_have_one_value_of_a_figure() -> None:
    tracker = Tracker()
    for number in range(5):
        asyncio.run(tracker.add(number * 10.0, overview(number * 10)))
    place = Place("c", "", (), 1.0, "", "", tracker)
    lines = build_lines(tracker, "name")
    grids = {
        "streams": board.streams([place]),
        "replication": board.links([place]),
        "consumers": board.consumers([place]),
        "servers": board.servers([place]),
        "accounts": board.accounts([place]),
    }
    assert grids.keys() == FIGURES.keys()
    records, screen = {}, {}
    for kind, grid in grids.items():
        [row], [record] = lines[kind] or [], [grid.record(row) for row in grid.rows]
        assert row.record.items() <= record.items()
        records[kind], screen[kind] = row.record, record
    assert records["streams"]["message_rate"] == 10
    assert records["replication"]["lag_rate"] == records["consumers"]["unprocessed_rate"]
    assert (screen["consumers"]["delivered_rate"], screen["consumers"]["acknowledged_rate"]) == (3, 2)
    assert records["servers"]["replica_lag"] == 7 and records["servers"]["cpu"] is None
    assert records["accounts"]["file_share"] == 0.4 and records["accounts"]["file_rate"] == 100
    assert records["accounts"]["request_rate"] == 1 and records["accounts"]["seconds_to_limit"] == 60


def test_a_stream_that_does_not_answer_keeps_its_figures() -> None:
    """They are not zero: an alert for an empty stream is none while a leader is elected."""
    tracker = Tracker()
    asyncio.run(tracker.add(0.0, overview(10)))
    silent = overview(20)._replace(streams=[build_silent_row("S", "no answer")])
    asyncio.run(tracker.add(10.0, silent))
    (line,) = tracker.streams or ()
    assert (line.row.messages, line.row.offline, line.row.created) == (
        100,
        "no answer",
        "2026-01-01T00:00:00Z",
    )
    assert [trouble.code for trouble in line.troubles] == ["STREAM_NO_LEADER"]
    asyncio.run(tracker.add(20.0, overview(30)))
    (line,) = tracker.streams or ()
    assert (line.row.messages, line.row.offline, line.event) == (300, None, "")


few = st.integers(0, 1)
troubles = st.sampled_from([(), (Trouble("full", True, ""),)])
streams = st.builds(
    lambda row, line: StreamLine(overview(1).streams[0]._replace(**row), at=AT, **line),
    st.fixed_dictionaries(
        dict.fromkeys(("lost", "deleted", "messages", "bytes", "consumers", "subjects"), few)
        | {"peers": st.sampled_from([(), ("n2",)]), "migration": st.sampled_from([None, "1 of 3"])}
        | {"last_ts": st.sampled_from([None, format_rfc3339(AT), format_rfc3339(AT - timedelta(seconds=1))])}
    ),
    st.fixed_dictionaries(
        dict.fromkeys(("rate", "growth", "share", "limit"), few | st.none())
        | {"rates": st.sampled_from([(), (0,)]), "troubles": troubles}
    ),
)
consumers = st.builds(
    lambda line: build_consumer_line((overview(1).consumers or ())[0], AT)._replace(**line),
    st.fixed_dictionaries(
        dict.fromkeys(("ack_pending", "redelivered", "unprocessed", "waiting"), few)
        | dict.fromkeys(("drain", "delivered", "acknowledged"), few | st.none())
        | {"last_delivery": st.integers(-1, 1), "leader": st.sampled_from([None, "n1"])}
        | {"migration": st.sampled_from(["", "1 of 3"]), "troubles": troubles}
        | {"trend": st.sampled_from([Trend(None, (), ()), Trend(None, (1.0,), (0,))])}
    ),
)


@given(st.lists(st.tuples(st.lists(streams, max_size=2), st.lists(consumers, max_size=2)), max_size=2))
def test_a_column_has_values_if_a_row_has_one(
    lists: list[tuple[list[StreamLine], list[ConsumerLine]]],
) -> None:
    places = []
    for streams, consumers in lists:
        tracker = Tracker()
        tracker.streams, tracker.consumers = streams, consumers
        places.append(Place("c", "", (), 1.0, "", "", tracker))
    for grid in (board.streams(places), board.consumers(places)):
        assert grid.is_fine == (not any(map(grid.level, grid.rows)))
        for column in grid.columns:
            assert grid.has_values(column) == any(map(column.get_raw, grid.rows)), column.key
        assert [*grid.list_words(grid.rows)] == [" ".join(grid.texts(row)) for row in grid.rows]


def test_no_two_figures_have_one_name() -> None:
    metrics = []
    for figures in FIGURES.values():
        metrics += [name for figure in figures if figure.metric for name in figure.metric.names]
        columns = [figure.table_column for figure in figures if figure.table_column]
        for names in ([figure.key for figure in figures], columns):
            assert len(set(names)) == len(names)
    assert len(set(metrics)) == len(metrics)


def test_each_unit_exists() -> None:
    for figure in (figure for figures in FIGURES.values() for figure in figures):
        for unit in (
            figure.unit,
            *(shown.unit for shown in (figure.table, figure.screen, figure.own) if shown),
        ):
            assert not unit or unit in UNITS, f"{figure.key} has the unit {unit}; use one of {sorted(UNITS)}"


def test_conditions_on_streams_and_consumers_do_not_hold_for_servers_and_accounts() -> None:
    """A key stands for one thing: `consumers > 5` is about streams."""
    older, newer = (
        {figure.key for kind in kinds for figure in list_figures(kind)}
        for kinds in (("streams", "replication", "consumers"), ("servers", "accounts"))
    )
    assert older & newer == {"cluster", "trouble", "codes"}


numbers = st.sampled_from((None, 0, 0.0, 1, 1.0, 9.96, 10, 10**9)) | st.integers(0, 10**15)


@given(st.lists(st.tuples(numbers, st.sampled_from(("", "purged", "new leader"))), max_size=20))
def test_a_remembered_cell_is_what_a_new_one_is(asked: list[tuple[float | None, str]]) -> None:
    for value, event in asked:
        assert repr(rate_cell(value, event)) == repr(rate_cell.__wrapped__(value, event))
        if not isinstance(value, float):
            assert repr(ago_cell(value)) == repr(ago_cell.__wrapped__(value))


@pytest.mark.parametrize(("noun", "kind"), [("stream", "streams"), ("consumer", "consumers")])
def test_schemas_of_reports_have_their_figures(noun: str, kind: str) -> None:
    keys = load_outputs()[f"io.jsctl.v1.{noun}_report"][""].keys[f"{kind}[]"]
    missing = {figure.key for figure in list_own_figures(kind)} - keys.keys()
    assert not missing, f'python -m tests.support.generate "{noun} report" writes them'
