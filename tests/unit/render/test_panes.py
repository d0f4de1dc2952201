"""Panes at many sizes of the terminal, and the judgements and rates behind them."""

import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rich.console import Console

from jsctl.errors import Unreachable
from jsctl.monitor.consumer.facts import Facts
from jsctl.monitor.report import health
from jsctl.monitor.report.health import growing
from jsctl.monitor.report.overview import Overview
from jsctl.monitor.report.rates import compute_rates
from jsctl.monitor.report.rows import DomainState
from jsctl.monitor.stream.rows import stream_links, stream_row
from jsctl.monitor.trouble import Trouble
from jsctl.render.panes import fit_panes
from jsctl.units import SECOND
from jsctl.views.report import report as view
from jsctl.views.report.panes import Pane
from jsctl.views.result import Text

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def info(name: str, **state: Any) -> dict[str, Any]:
    return {
        "config": {"name": name, "storage": "file", "num_replicas": 1},
        "created": "2026-11-21T11:00:00Z",
        "state": {"messages": 0, "bytes": 0, "first_seq": 0, "last_seq": 0, "consumer_count": 0, **state},
    }


def mirror(name: str, **link: Any) -> dict[str, Any]:
    return info(name) | {"mirror": {"name": "origin", "lag": 0, "active": SECOND, **link}}


def look(*infos: dict[str, Any], consumers: Any = None) -> Overview:
    troubles = {one["config"]["name"]: health.of_stream(one, NOW) for one in infos}
    links = [row for one in infos for row in stream_links(one)]
    return Overview(NOW, list(map(stream_row, infos)), troubles, links, consumers, {})


def state(*overviews: Overview, failure: Unreachable | None = None, context: str = "east") -> DomainState:
    history = [(float(at), one) for at, one in enumerate(overviews)]
    return DomainState(context, "", "nats://x:1", "$JS.API", history, failure, NOW.timestamp())


def drawn(panes: list[Pane], width: int, height: int, ansi: bool = False) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width, height=height, force_terminal=ansi, markup=False)
    console.print(fit_panes(Text("heading"), panes, width, height))
    return out.getvalue().splitlines()


def panes(*states: DomainState) -> list[Pane]:
    return [view.pane(one, "name") for one in states]


@pytest.mark.parametrize(
    ("width", "height"), [(20, 5), (5, 2), (12, 1), (80, 24), (40, 10), (200, 60), (81, 7)]
)
def test_the_picture_never_passes_the_screen(width: int, height: int) -> None:
    many = [info(f"stream-{n}", messages=n) for n in range(300)]
    shown = drawn(
        panes(
            state(look(*many, *(mirror(f"m{n}") for n in range(9)))),
            state(look(info("one")), context="west"),
            state(failure=Unreachable("cannot connect"), context="south"),
        ),
        width,
        height,
    )
    assert 1 <= len(shown) <= height
    assert max(map(len, shown)) <= width


def test_cropped_rows_are_counted_and_the_troubled_stay() -> None:
    many = [info(f"s{n:03}") for n in range(60)]
    many[47]["state"]["lost"] = {"msgs": [1, 2], "bytes": 9}
    shown = "\n".join(drawn(panes(state(look(*many))), 100, 20))
    assert "s047" in shown
    assert "2 lost" in shown
    assert "s000" in shown
    assert "s030" not in shown
    rows = sum(f" s{n:03} " in shown for n in range(60))
    assert f"… {60 - rows} more streams; --stream PATTERN or a taller terminal" in shown


def test_all_rows_are_shown_where_they_fit() -> None:
    shown = "\n".join(drawn(panes(state(look(*(info(f"s{n}") for n in range(15))))), 100, 20))
    assert "more" not in shown
    assert all(f"s{n}" in shown for n in range(15))


def test_foreign_text_is_neither_markup_nor_escape() -> None:
    one = mirror("x", error={"description": "[red]bad[/red]\x1b[2J", "code": 500})
    shown = "\n".join(drawn(panes(state(look(one), context="[bold]c[/bold]")), 160, 20, ansi=True))
    assert "[red]bad[/red]\\x1b[2J" in shown
    assert "[bold]c[/bold]" in shown
    assert "\x1b[2J" not in shown


def test_a_failed_context_keeps_its_last_tables() -> None:
    shown = "\n".join(drawn(panes(state(look(info("kept")), failure=Unreachable("cannot connect"))), 100, 20))
    assert "unreachable, as of" in shown
    assert "cannot connect" in shown
    assert "kept" in shown


def test_rates() -> None:
    before = look(info("a", last_seq=100, bytes=1000), info("shrank", last_seq=9), mirror("m", lag=500))
    after = look(
        info("a", last_seq=300, bytes=500), info("shrank", last_seq=3), mirror("m", lag=100), info("new")
    )
    result = compute_rates(before, after, 2.0)
    assert result.messages == {"a": 100.0, "m": 0.0}
    assert result.bytes["a"] == -250.0
    assert list(result.lag.values()) == [-200.0]
    assert compute_rates(before, after, 0.0).messages == {}


def test_a_recreated_stream_has_no_rate() -> None:
    again = info("a", last_seq=300) | {"created": "2026-11-21T11:30:00Z"}
    assert compute_rates(look(info("a", last_seq=100)), look(again), 1.0).messages == {}


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([], False),
        ([1, 5], False),
        ([0, 1, 0], False),
        ([5, 5, 5], False),
        ([1, 2, 2], False),
        ([1, 2, 9], True),
    ],
)
def test_growing(numbers: list[int], expected: bool) -> None:
    assert growing(numbers) is expected


def words(troubles: list[Trouble]) -> list[str]:
    return [trouble.words for trouble in troubles]


def test_streams_in_trouble() -> None:
    one = info("a", messages=95)
    one["config"] |= {"max_msgs": 100, "discard": "new"}
    one["cluster"] = {
        "name": "c",
        "replicas": [
            {"name": "n2", "offline": True},
            {"name": "n3", "lag": 7, "active": 900},
            {"name": "n4", "active": 12 * SECOND + 5},
            {"name": "n5"},
        ],
    }
    result = health.of_stream(one, NOW)
    assert words(result) == [
        "no leader",
        "replica n2 offline",
        "replica n3 outdated, 7 behind",
        "replica n4 not seen for 12s",
        "replica n5 not seen",
        "95% of its messages",
    ]
    one["config"]["discard"] = "old"
    one["cluster"] = {"leader": "n1", "replicas": [{"name": "n2", "current": True}]}
    assert health.of_stream(one, NOW) == []


def test_links_in_trouble() -> None:
    def kinds(lags: list[int], **link: Any) -> list[str]:
        (row,) = look(mirror("m", **link)).links
        return words(health.of_link(row, lags, "2026-11-21T11:00:00Z", NOW))

    assert kinds([0, 0, 0]) == []
    assert kinds([0], active=-1) == ["never seen"]
    assert kinds([0], active=95 * SECOND) == ["not seen for 1m35s"]
    assert kinds([1, 20, 300], lag=300) == ["lag growing"]
    assert kinds([9, 9, 9], lag=9) == ["lag stuck"]
    assert kinds([0], active=-1, error={"description": "stream not found", "err_code": 10059}) == ["error"]


def test_a_stream_made_just_now_is_given_time() -> None:
    (row,) = look(mirror("m", active=-1)).links
    young = (NOW - timedelta(seconds=2)).isoformat()
    assert health.of_link(row, [0], young, NOW) == []


def test_consumers_in_trouble() -> None:
    consumer = {
        "stream_name": "s",
        "name": "c",
        "num_pending": 10,
        "num_ack_pending": 5,
        "config": {"max_ack_pending": 5, "deliver_subject": "d"},
    }
    assert words(health.of_consumer(Facts("s", "c", consumer, {}), [1, 5, 10])) == [
        "5 unacknowledged, delivery stopped",
        "no subscriber",
        "falling behind",
    ]


def test_account_limits() -> None:
    tier = {
        "storage": 99,
        "memory": 0,
        "limits": {"max_storage": 100, "max_memory": -1, "max_streams": 5},
        "streams": 5,
    }
    assert words(health.of_account({"tiers": {"R1": tier}})) == [
        "99% of the account's file storage (R1)",
        "100% of the account's streams (R1)",
    ]
    assert health.of_account({}) == []


def test_troubles_are_cut_at_their_end_and_names_in_the_middle() -> None:
    consumer = {
        "stream_name": "s",
        "name": "a-name-that-is-long-enough-to-be-cut-x1",
        "num_pending": 10,
        "num_ack_pending": 5,
        "config": {"max_ack_pending": 5, "deliver_subject": "d"},
    }
    shown = "\n".join(drawn(panes(state(look(info("s"), consumers=[consumer]))), 80, 20))
    assert "5 unacknowledged, delivery stopped" in shown
    assert "…" in shown
    assert "cut-x1" in shown
