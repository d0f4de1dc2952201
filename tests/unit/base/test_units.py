"""Sizes, durations and times, with vectors. Where the `nats` tool has a rule, the vector follows it."""

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.base import units
from jsctl.base.units import DAY, HOUR, MINUTE, MS, NEVER, SECOND, US

NOW = 1_795_261_678_000_000_000  #: 2026-11-21T11:47:58Z
MAX = (1 << 63) - 1


def _forget_zone() -> None:
    time.tzset()
    for cached in (units._format_second, units._format_zone, units._format_utc_text, units._parse_second):
        cached.cache_clear()


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    _forget_zone()
    yield
    monkeypatch.undo()
    _forget_zone()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("-0", 0),
        ("1ns", 1),
        ("7us", 7 * US),
        ("7µs", 7 * US),  # U+00B5
        ("7μs", 7 * US),  # U+03BC
        ("1.5s", 1_500 * MS),
        ("0.25h", 15 * MINUTE),
        ("1.9ns", 1),
        ("+90s", 90 * SECOND),
        (" 2m ", 2 * MINUTE),
        ("-1h30m", -90 * MINUTE),
        ("1d", DAY),
        ("1D", DAY),
        ("2w", 14 * DAY),
        ("1M", 30 * DAY),
        ("1y", 365 * DAY),
        ("1y2M3d4h5m6s7ms", (365 + 60 + 3) * DAY + 4 * HOUR + 5 * MINUTE + 6 * SECOND + 7 * MS),
        ("1m1M", MINUTE + 30 * DAY),
    ],
)
def test_durations(text: str, expected: int) -> None:
    assert units.parse_duration(text) == expected


@pytest.mark.parametrize(
    "text", ["", "-", "1", "s", "1x", "1h 2m", "1 h", "h1", "1h2", "1..5s", ".5s", "1e3s"]
)
def test_text_that_is_not_a_duration(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration such as 30s"):
        units.parse_duration(text)


def test_a_size_fits_64_bits() -> None:
    assert units.parse_bytes(str(MAX)) == MAX
    with pytest.raises(ValueError, match="larger than a signed 64 bit number"):
        units.parse_bytes(str(MAX + 1))


def test_a_text_has_at_most_200_characters() -> None:
    assert units.parse_bytes("1".rjust(200, "0")) == 1
    with pytest.raises(ValueError, match="at most 200 are valid"):
        units.parse_bytes("1".rjust(201, "0"))


def test_a_duration_fits_64_bits() -> None:
    assert units.parse_duration(f"{MAX}ns") == MAX
    with pytest.raises(ValueError, match="longer than 292 years"):
        units.parse_duration("293y")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("512", 512),
        ("512B", 512),
        ("1k", 1024),
        ("1KB", 1024),
        ("1KiB", 1024),
        ("10 MB", 10 << 20),
        ("1g", 1 << 30),
        ("1GiB", 1 << 30),
        ("3TB", 3 << 40),
        ("2pib", 2 << 50),
        (" 5m ", 5 << 20),
        ("-1", -1),
    ],
)
def test_sizes(text: str, expected: int) -> None:
    assert units.parse_bytes(text) == expected


@pytest.mark.parametrize("text", ["", "-2", "-1k", "k", "1.5GB", "1X", "1ib", "1 2", "1e3", "9000P"])
def test_text_that_is_not_a_size(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a size|is larger than"):
        units.parse_bytes(text)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0 B"),
        (45, "45 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1126, "1.1 KiB"),
        (10_189, "10 KiB"),
        (83_968, "82 KiB"),
        ((1 << 20) - 1, "1.0 MiB"),
        (1 << 30, "1.0 GiB"),
        (MAX, "8.0 EiB"),
        (-2048, "-2.0 KiB"),
    ],
)
def test_sizes_for_people(value: int, expected: str) -> None:
    assert units.format_bytes(value) == expected


@pytest.mark.parametrize(
    ("value", "rounded", "exact"),
    [
        (0, "0s", "0s"),
        (999, "999ns", "999ns"),
        (1_500, "1µs", "1.5µs"),
        (937_500_000, "937ms", "937.5ms"),
        (2_179_000_000, "2.17s", "2.179s"),
        (30 * SECOND, "30.00s", "30s"),
        (2 * MINUTE, "2m0s", "2m0s"),
        (90 * SECOND + 500 * MS, "1m30s", "1m30.5s"),
        (HOUR, "1h0m0s", "1h0m0s"),
        (26 * HOUR, "1d2h0m0s", "1d2h0m0s"),
        (365 * DAY, "1y0d0h0m0s", "1y0d0h0m0s"),
        (-2 * MINUTE, "-2m0s", "-2m0s"),
    ],
)
def test_durations_for_people(value: int, rounded: str, exact: str) -> None:
    assert units.format_duration(value) == rounded
    assert units.format_exact_duration(value) == exact


@given(st.integers(-MAX, MAX))
def test_an_exact_duration_loses_nothing(value: int) -> None:
    assert units.parse_duration(units.format_exact_duration(value)) == value


def test_ages() -> None:
    assert units.format_age(NEVER) == "never"
    assert units.format_age(0) == "0s"
    assert units.compute_age("2026-11-21T11:47:57.999999999Z", NOW) == 1
    assert units.compute_age("2026-11-21T11:47:57.5Z", "2026-11-21T11:47:58Z") == 500 * MS
    assert units.compute_age("2026-11-21T11:47:57Z", datetime(2026, 11, 21, 11, 47, 58, tzinfo=UTC)) == SECOND
    assert units.compute_age("2026-11-21T11:47:59Z", NOW) == 0  # the clocks differ
    assert units.truncate_to_seconds(2_999 * MS) == 2 * SECOND


@pytest.mark.parametrize("since", [None, "", "0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z"])
def test_what_has_not_happened_has_no_age(since: str | None) -> None:
    assert units.read_known_time(since) is None
    assert units.compute_age(since, NOW) == NEVER
    assert (
        units.compute_age("2026-11-21T11:47:57Z", None)
        == units.compute_age("2026-11-21T11:47:57Z", "")
        == NEVER
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-11-21T11:47:58Z", NOW),
        ("2026-11-21T11:47:58.5Z", NOW + 500 * MS),
        ("2026-11-21T11:47:58.000000001Z", NOW + 1),
        ("1969-12-31T23:59:59.25Z", -750 * MS),
        ("0001-01-01T00:00:00Z", -62_135_596_800 * SECOND),
        ("2026-11-21T13:47:58.25+02:00", NOW + 250 * MS),
        ("2026-11-21T06:17:58-0530", NOW),
        ("2026-11-21 12:47:58", NOW),  # local
        (" 2026-11-21T12:47:58.123456789 ", NOW + 123_456_789),
        ("2026-11-21", NOW - (12 * 60 + 47) * MINUTE - 58 * SECOND),
    ],
)
def test_times(text: str, expected: int, berlin: None) -> None:
    assert units.parse_time_ns(text) == expected
    assert units.to_ns(units.parse_time(text)) == expected // US * US


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Z",
        "now",
        "1h",
        "2026-13-01",
        "2026-11-21T25:00:00Z",
        "2026-11-21T11:47:58.Z",
        "2026-11-21T11:47:58.1234567891Z",
        "2026-11-21T11:47:58.1_2Z",
        "2026-11-21T11:47:58.-1Z",
    ],
)
def test_text_that_is_not_a_time(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time such as"):
        units.parse_time_ns(text)


@given(st.integers(0, 4_000_000_000 * SECOND))
def test_a_time_survives_rfc3339(value: int) -> None:
    assert units.parse_time_ns(units.format_rfc3339(value)) == value
    assert units.to_ns(units.to_datetime(value)) == value // US * US


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (NOW, "2026-11-21T11:47:58Z"),
        (NOW + 120 * MS, "2026-11-21T11:47:58.12Z"),
        (NOW + 1, "2026-11-21T11:47:58.000000001Z"),
        (-750 * MS, "1969-12-31T23:59:59.25Z"),
        (datetime(2026, 11, 21, 13, 47, 58, tzinfo=timezone(timedelta(hours=2))), "2026-11-21T11:47:58Z"),
        (datetime(2026, 11, 21, 11, 47, 58), "2026-11-21T11:47:58Z"),
        ("2026-11-21T13:47:58.123456789+02:00", "2026-11-21T11:47:58.123456789Z"),
    ],
)
def test_rfc3339(value: units.Time, expected: str) -> None:
    assert units.format_rfc3339(value) == expected


@pytest.mark.parametrize(
    "value", [NOW, "2026-11-21T11:47:58.9Z", datetime(2026, 11, 21, 11, 47, 58, tzinfo=UTC)]
)
def test_local_times(value: units.Time, berlin: None) -> None:
    assert units.format_time(value) == "2026-11-21 12:47:58+01:00"
    assert units.parse_time_ns(units.format_time(value)) == NOW
    assert units.format_clock(value) == "12:47:58"


def test_local_times_of_templates(berlin: None) -> None:
    assert units.format_rfc3339_local(NOW + 999 * MS) == "2026-11-21T12:47:58+01:00"
    assert units.format_kitchen(NOW) == "12:47PM"
    assert units.format_kitchen(NOW - 6 * HOUR) == "6:47AM"


def test_local_times_of_the_server(berlin: None) -> None:
    assert units.format_time_us(NOW + 1_999) == "2026-11-21 12:47:58.000001+01:00"
    assert units.format_server_time("2026-11-21T11:47:58.9Z") == "2026-11-21 12:47:58+01:00"
    assert units.format_server_time("soon") == "soon"
    assert units.format_server_time(None) == units.format_server_time("") == "at an unknown time"


def test_times_before_and_after_now(berlin: None) -> None:
    assert units.parse_past_time("1h", NOW) == NOW - HOUR
    assert units.parse_past_time("2026-11-21T12:47:58", 0) == NOW  # local
    assert units.parse_future_time("1h", NOW) == NOW + HOUR
    assert units.parse_future_time("2026-11-21 12:47:58", 0) == NOW  # local
    assert units.parse_future_time("2026-11-21T11:47:58.000000001Z", 0) == NOW + 1
    for parse in (units.parse_past_time, units.parse_future_time):
        with pytest.raises(ValueError, match="is not a"):
            parse("tomorrow", NOW)


def test_clocks() -> None:
    assert units.seconds_to_ns(1_795_261_678.000001) == NOW + 1_000
    assert units.format_count(200_004) == "200,004"


EXTREME = (
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00.000000001Z",
    "0001-01-01T00:00:00+14:00",
    "0001-06-01T00:00:00Z",
    "1600-02-29T12:00:00Z",
    "9999-12-31T23:59:59.999999999Z",
    "9999-12-31T23:59:59-14:00",
)


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Pacific/Kiritimati", "Asia/Kolkata"])
@pytest.mark.parametrize("text", EXTREME)
def test_times_at_both_ends_of_the_calendar(monkeypatch: pytest.MonkeyPatch, zone: str, text: str) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    caches = (units._format_second, units._format_zone, units._format_utc_text, units._parse_second)
    for cached in caches:
        cached.cache_clear()
    try:
        for value in (text, units.parse_time_ns(text), units.parse_time(text)):
            shown = units.format_time(value)
            if "year" in shown:  # in UTC it is one that no datetime holds
                assert text[-6:] in ("+14:00", "-14:00")
                continue
            assert units.parse_time(shown), shown
            assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", shown)
            assert units.format_time_us(units.to_ns(value))
            assert units.format_rfc3339(value)
            assert units.format_clock(value)
            assert units.to_datetime(value).tzinfo
        assert units.format_rfc3339_local(units.parse_time_ns(text))
        assert units.format_kitchen(units.parse_time_ns(text))
        assert units.format_server_time(text)
        assert units.compute_age(text, "2026-01-01T00:00:00Z") >= -1
    finally:
        monkeypatch.undo()
        time.tzset()
        for cached in caches:
            cached.cache_clear()


def test_join_some() -> None:
    assert units.join_some([]) == ""
    assert units.join_some(["a", "b"], 2) == "a, b"
    assert units.join_some(range(1, 8)) == "1, 2, 3, 4, 5 and 2 more"
    assert units.join_some(range(2000), 1, "; ") == "0; and 1,999 more"
