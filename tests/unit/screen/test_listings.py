"""Lists of 10,000 rows of 12 contexts on the live report's screen."""

import pytest

from jsctl.base.units import SECOND
from jsctl.jetstream.message.schedules import StoredSchedule
from jsctl.monitor.report.listings import LISTED, Listing
from jsctl.monitor.report.places import Place
from jsctl.monitor.report.tracking import Tracker
from jsctl.screen.drawing import draw, settle
from jsctl.screen.model import build_first_model, with_board, with_size
from jsctl.views.board import Start
from jsctl.views.report.board import board, consumers

NOW = 1_764_000_000.0
PLACES, ROWS = 12, 833


def _build_place(number: int) -> Place:
    tracker = Tracker()
    tracker.streams = ()
    says = "2026-11-21T06:57:05Z", "@every 5m", "", "jobs.run", "", "", "", None
    rows = [StoredSchedule(f"jobs.plan.{row:04}", row, *says, f"JOBS{number}") for row in range(ROWS)]
    tracker.listings["schedules"] = Listing("schedules", rows)
    return Place(f"c{number}", "", (), NOW, "", "", tracker)


@pytest.mark.parametrize(("width", "height"), [(80, 24), (60, 20), (200, 60)])
def test_only_rows_on_the_screen_are_read(width: int, height: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a schedule runs next is computed for what is drawn, not for all rows."""
    computed = []
    runs = StoredSchedule.list_runs

    def count(schedule: StoredSchedule, now: int, number: int) -> list[int]:
        computed.append(schedule)
        return runs(schedule, now, number)

    monkeypatch.setattr(StoredSchedule, "list_runs", count)
    places = [_build_place(number) for number in range(PLACES)]
    model = with_size(
        build_first_model(Start("jsctl report", part="schedules", asked=tuple(LISTED)), SECOND), width, height
    )
    model = settle(with_board(model, board(places, NOW, 1, listing="schedules")))
    drawn = ["".join(text for _, text in line) for line in draw(model, width, height)]
    assert len(model.rows) == PLACES * ROWS and len(drawn) == height
    assert len(set(computed)) <= height
    assert "Schedules 9,996" in drawn[1] and "000" in drawn[3]


def test_none_is_said_of_consumers_once_they_were_listed() -> None:
    place = _build_place(0)
    assert consumers([place]).empty == "there are no consumers, or none was listed yet"
    place.tracker.consumers = ()
    assert not consumers([place]).empty, "there are no consumers"
