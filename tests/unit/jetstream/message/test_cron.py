"""The times of schedules, as nats-server computes them."""

from datetime import UTC, datetime
from itertools import islice

import pytest

from jsctl.base.units import SECOND, parse_time_ns
from jsctl.errors import BadInput
from jsctl.jetstream.message.cron import list_runs


@pytest.mark.parametrize(
    ("pattern", "zone", "after", "runs"),
    [
        ("@at 2026-01-02T03:04:05Z", "", "2026-01-01T00:00:00Z", ["2026-01-02T03:04:05"]),
        ("@at 2026-01-02T03:04:05Z", "", "2026-01-03T00:00:00Z", []),
        ("@every 90s", "", "2026-01-01T00:00:00Z", ["2026-01-01T00:01:30", "2026-01-01T00:03:00"]),
        ("@daily", "", "2026-01-01T00:00:00Z", ["2026-01-02T00:00:00", "2026-01-03T00:00:00"]),
        ("0 30 8 * * mon-fri", "Europe/Amsterdam", "2026-11-27T12:00:00Z", ["2026-11-30T07:30:00"]),
        ("0 0 0 13 * fri", "", "2026-02-01T00:00:00Z", ["2026-02-06T00:00:00", "2026-02-13T00:00:00"]),
        ("0 0 0 29 2 *", "", "2026-02-01T00:00:00Z", ["2028-02-29T00:00:00"]),
        # 02:30 does not exist on that day, and 02:30 on the other comes twice
        ("0 30 2 * * *", "Europe/Amsterdam", "2026-03-28T12:00:00Z", ["2026-03-30T00:30:00"]),
        (
            "0 30 2 25 10 *",
            "Europe/Amsterdam",
            "2026-10-01T00:00:00Z",
            ["2026-10-25T00:30:00", "2026-10-25T01:30:00"],
        ),
        ("*/20 59 23 31 dec *", "", "2026-12-31T23:59:30Z", ["2026-12-31T23:59:40", "2027-12-31T23:59:00"]),
    ],
)
def test_runs(pattern: str, zone: str, after: str, runs: list[str]) -> None:
    found = islice(list_runs(pattern, zone, parse_time_ns(after)), max(len(runs), 1))
    assert [datetime.fromtimestamp(run // SECOND, UTC).isoformat()[:19] for run in found] == runs


@pytest.mark.parametrize(
    "pattern", ["", "@often", "* * * * *", "60 * * * * *", "5-3 * * * * *", "*/0 * * * * *"]
)
def test_patterns_that_are_not_valid(pattern: str) -> None:
    with pytest.raises(BadInput):
        next(list_runs(pattern, "", 0), None)


def test_a_day_that_never_comes() -> None:
    assert next(list_runs("0 0 0 31 2 *", "", 0), None) is None
