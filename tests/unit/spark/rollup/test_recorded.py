"""What a rollup counts, by hand; `tests/spark/test_rollup.py` compares it with Spark's."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from jsctl.spark.rollup.definition import REPORTS
from jsctl.spark.rollup.recorded import roll_up_samples
from tests.support.samples import BEGIN, build_sample

REPORT = {report.name: report for report in REPORTS}


def roll_up(report: str, samples: Sequence[dict[str, Any]], **options: Any) -> list[dict[str, Any]]:
    built = [build_sample(report, minute, **values) for minute, values in enumerate(samples)]
    return roll_up_samples(REPORT[report], built, **{"daily": True, **options})


def test_errors_after_a_restart_count() -> None:
    (row,) = roll_up("servers", [{"api": 100, "errors": 7}, {"api": 10, "errors": 4}])
    assert (row["api"], row["errors"], row["restarts"]) == (10, 4, 1)


def test_a_percentile_lies_between_two_samples() -> None:
    (row,) = roll_up("consumers", [{"unprocessed": 0}, {"unprocessed": 100}])
    assert (row["lag_p50"], row["lag_p95"], row["lag_max"]) == (50, 95, 100)


def test_a_stream_made_again_starts_from_zero() -> None:
    later = BEGIN + timedelta(seconds=90)
    (row,) = roll_up("streams", [{"last_seq": 5}, {"last_seq": 9}, {"last_seq": 20, "created": later}])
    assert (row["stored"], row["resets"]) == (4 + 20, 1)


def test_what_a_restored_stream_stored_is_unknown() -> None:
    (row,) = roll_up("streams", [{"last_seq": 5}, {"last_seq": 3}, {"last_seq": 4}])
    assert (row["stored"], row["resets"]) == (1, 1)


def test_a_purge_shrinks_and_stores_nothing() -> None:
    (row,) = roll_up(
        "streams", [{"last_seq": 5, "bytes": 500, "max_bytes": 600}, {"last_seq": 5, "bytes": 0}]
    )
    assert (row["stored"], row["growth"], row["resets"], row["days_to_limit"]) == (0, -500, 0, None)


def test_an_offline_stream_is_not_empty() -> None:
    lines: list[dict[str, Any]] = [
        {"last_seq": 5},
        {"last_seq": 0, "offline": "no leader"},
        {"last_seq": None},
        {"last_seq": 8},
    ]
    before, after = roll_up("streams", lines, daily=False)
    assert (before["samples"], after["samples"]) == (1, 1)
    assert (after["stored"], after["resets"], after["message_rate"]) == (3, 0, 3 / 180)


def test_one_sample_has_no_rate() -> None:
    (row,) = roll_up("streams", [{"last_seq": 5}])
    assert (row["stored"], row["message_rate"], row["peak_rate"]) == (0, None, None)


def test_the_sample_before_the_time_asked_for_is_compared_with() -> None:
    since, until = BEGIN + timedelta(minutes=1), BEGIN + timedelta(minutes=2)
    lines = [{"last_seq": 5}, {"last_seq": 8}, {"last_seq": 20}]
    (row,) = roll_up("streams", lines, since=since, until=until)
    assert (row["samples"], row["stored"]) == (1, 3)


def test_an_increase_over_midnight_belongs_to_the_later_day() -> None:
    assert datetime(2026, 11, 20, 23, 57, tzinfo=UTC) == BEGIN
    days = roll_up("streams", [{"last_seq": n} for n in (1, 2, 4, 8, 16)])
    assert [(f"{row['period']:%d %H}", row["stored"]) for row in days] == [("20 00", 3), ("21 00", 12)]
    hours = roll_up("streams", [{"last_seq": n} for n in (1, 2, 4, 8, 16)], daily=False)
    assert [(f"{row['period']:%d %H}", row["stored"]) for row in hours] == [("20 23", 3), ("21 00", 12)]
