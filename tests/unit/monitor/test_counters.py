"""Rates and trends that know when a counter went back."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from jsctl.monitor.counters import LENGTH, Counters, Trends


def rates(values: Sequence[tuple[str, int]]) -> list[float | None]:
    """The rates of a counter, seen every two seconds, with its epochs."""
    counters, seen = Counters(), []
    for at, (epoch, value) in enumerate(values):
        seen.append(counters.rate("key", epoch, at * 2.0, value))
        counters.end_round()
    return seen


def test_a_rate_needs_two_values() -> None:
    assert rates([("a", 10), ("a", 30), ("a", 30)]) == [None, 10.0, 0.0]


def test_another_epoch_is_another_counter() -> None:
    """A stream that was made anew, or that another server leads."""
    assert rates([("a", 1000), ("b", 5), ("b", 9)]) == [None, None, 2.0]


def test_a_counter_that_goes_back_has_no_rate() -> None:
    """A leader that knows less leads for a while; the step back up is no rate, either."""
    assert rates([("a", 1000), ("a", 10), ("a", 20), ("a", 1020), ("a", 1040)]) == [
        None,
        None,
        5.0,
        None,
        10.0,
    ]


def test_a_counter_that_is_back_where_it_was_has_no_rate() -> None:
    assert rates([("a", 1000), ("a", 10), ("a", 1000), ("a", 1010)]) == [None, None, None, 5.0]


def test_what_stands_still_reaches_no_limit() -> None:
    trends = Trends()
    for at in range(3):
        trend = trends.add("bytes", "", at, 60)
        trends.end_round()
    assert trend.slope == 0
    assert trend.seconds_to(100) is None and trend.seconds_to_zero is None


def test_two_values_at_one_moment_are_no_rate() -> None:
    """A clock that was set back, or is too coarse: zero seconds divide nothing."""
    counters, trends = Counters(), Trends()
    for at in (7.0, 7.0, 5.0):
        assert counters.rate("key", "a", at, 10) is None
        assert trends.add("bytes", "", at, 60).slope is None
        counters.end_round()
        trends.end_round()


def test_what_was_missing_for_a_round_starts_again() -> None:
    counters = Counters()
    counters.rate("key", "a", 0, 10)
    counters.end_round()
    counters.end_round()
    assert counters.rate("key", "a", 4, 50) is None


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 10**6)), max_size=40))
def test_no_rate_is_negative_or_larger_than_what_came(values: list[tuple[str, int]]) -> None:
    for rate, (_, value) in zip(rates(values), values, strict=True):
        assert rate is None or 0 <= rate <= value / 2


def test_time_to_drain_and_until_a_limit() -> None:
    trends = Trends()
    for at, value in enumerate([100, 80, 60]):
        falling = trends.add("lag", "", at, value)
        trends.end_round()
    assert falling.slope == -20
    assert falling.seconds_to_zero == 3
    assert falling.seconds_to(1000) is None
    for at, value in enumerate([10, 20, 30]):
        growing = trends.add("size", "", at, value)
        trends.end_round()
    assert growing.seconds_to(100) == 7
    assert growing.seconds_to(30) is None
    assert growing.seconds_to_zero is None


def test_a_trend_is_of_one_epoch_and_no_longer_than_it_may_be() -> None:
    trends = Trends()
    for at in range(100):
        trend = trends.add("key", at // 90, at, at)
        trends.end_round()
    assert list(trend.values) == list(range(90, 100))
    for at in range(100, 200):
        trend = trends.add("key", 1, at, at)
        trends.end_round()
    assert len(trend.values) == LENGTH


def test_equal_trends_are_kept_once() -> None:
    """Of 5,000 streams most are idle; what is equal need not be in memory 5,000 times."""
    trends = Trends()
    for at in range(50):
        for key in range(100):
            trends.add(key, f"epoch {key}", float(at), 7 if key else at)
        trends.end_round()
    alike = [trends.add(key, f"epoch {key}", 50.0, 7) for key in range(1, 100)]
    assert len({id(trend.values) for trend in alike}) == len({id(trend.times) for trend in alike}) == 1
    other = trends.add(0, "epoch 0", 50.0, 50)
    assert list(other.values) == list(other.times) == list(range(27, 51))
    assert list(alike[0].values) == [7] * 24 and all(type(value) is int for value in other.values)
    assert list(trends.add(0, "another", 50.0, 3).values) == [3]
