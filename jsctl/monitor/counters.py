"""Rates of counters and trends of numbers, round by round. No I/O.

A counter goes back when its stream is recreated, when a new leader knows less, or when a memory stream has
lost everything: such a step gives no rate.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")

LENGTH = 24
"""How many values a trend keeps."""

SMOOTH = 6
"""From how many of the last values the slope of a trend is computed."""


class _Counter(NamedTuple):
    """A counter. epoch: identifies what is counted; another epoch starts from zero. high: its
    highest value.
    """

    epoch: Hashable
    at: float
    value: int
    high: int
    rate: float | None


class _Rounds(Generic[T]):
    """Values by key; those that a round does not add are dropped at its end."""

    def __init__(self) -> None:
        self._previous: dict[Hashable, T] = {}
        self._current: dict[Hashable, T] = {}

    def keep(self, keys: Iterable[Hashable]) -> None:
        """Keep the values of keys that were not asked for in this round."""
        previous = self._previous
        self._current |= {key: previous[key] for key in keys if key in previous}

    def end_round(self) -> None:
        """Drop the values of keys that this round did not add."""
        self._previous, self._current = self._current, {}


class Counters(_Rounds[_Counter]):
    """Counters by key."""

    def rate(self, key: Hashable, epoch: Hashable, at: float, value: int) -> float | None:
        """Return the change per second since the previous round, None if unknown. at: seconds."""
        old = self._previous.get(key)
        rate, high = None, value
        if old is not None and old.epoch == epoch:
            high = max(old.high, value)
            came_back = old.value < old.high <= value
            if value >= old.value and not came_back and at > old.at:
                rate = (value - old.value) / (at - old.at)
        self._current[key] = _Counter(epoch, at, value, high, rate)
        return rate


class Trend(NamedTuple):
    """A number over time. values: the newest last. times: when each was taken, in seconds."""

    epoch: Hashable
    times: Sequence[float]
    values: Sequence[int]

    @property
    def slope(self) -> float | None:
        """The change per second over the last values; None for a single value."""
        times, values = self.times[-SMOOTH:], self.values[-SMOOTH:]
        if len(values) < 2 or times[-1] <= times[0]:
            return None
        return (values[-1] - values[0]) / (times[-1] - times[0])

    @property
    def seconds_to_zero(self) -> float | None:
        """Seconds until it is zero at this rate; None when it does not fall."""
        slope = self.slope
        if not self.values[-1] or slope is None or slope >= 0:
            return None
        return self.values[-1] / -slope

    def seconds_to(self, limit: int) -> float | None:
        """Return the seconds until the value reaches a limit at its present growth; None if it does not grow
        or has reached it.
        """
        slope = self.slope
        if slope is None or slope <= 0 or self.values[-1] >= limit:
            return None
        return (limit - self.values[-1]) / slope


NO_TREND = Trend(None, (), ())
"""The trend of a number that was not seen yet."""


class Trends(_Rounds[Trend]):
    """Trends by key.

    Most of 5,000 streams are alike: nothing changes, and they were seen in the same rounds. What is equal is
    kept once, so that a trend of them takes little memory, and as little time as one value.
    """

    def __init__(self, length: int = LENGTH) -> None:
        super().__init__()
        self._length = length
        self._longer_times: dict[Any, Any] = {}
        self._longer_values: dict[Any, Any] = {}

    def add(self, key: Hashable, epoch: Hashable, at: float, value: int) -> Trend:
        """Return the trend with this value as its newest; another epoch begins a new one."""
        old = self._previous.get(key)
        if old is None or old.epoch != epoch:
            old = Trend(epoch, (), ())
        times = self._extend(self._longer_times, old.times, at)
        trend = Trend(old.epoch, times, self._extend(self._longer_values, old.values, value))
        self._current[key] = trend
        return trend

    def _extend(self, longer: dict[Any, Any], values: Sequence[Any], value: Any) -> Any:
        """Return values with a further one; in a round the same object for the same values. longer: what was
        returned in this round."""
        key = id(values), value
        if (known := longer.get(key)) is None:
            # With `values`, so that no other object gets its id in this round.
            known = longer[key] = values, (*values[1 - self._length :], value)
        return known[1]

    def end_round(self) -> None:
        """Drop the trends of keys that this round did not add."""
        super().end_round()
        self._longer_times, self._longer_values = {}, {}
