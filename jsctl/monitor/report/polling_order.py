"""Whose consumers a live report lists in a round: each stream takes a request, and there may be 5,000. No
I/O."""

import time
from collections.abc import Callable, Iterable, Mapping

from jsctl.errors import JsctlError

PER_SECOND = 250
"""Streams whose consumers are listed for each second between two rounds, so that 5,000 take 20 seconds."""

MIN_PER_ROUND = 100
"""Streams whose consumers are listed in each round, however short it is."""


class PollingOrder:
    """The order in which streams are asked for their consumers: all at first, then those asked longest ago.

    interval: returns seconds between two rounds. clock: returns seconds since 1970.
    """

    def __init__(self, interval: Callable[[], float], clock: Callable[[], float] = time.time) -> None:
        self._interval = interval
        self._clock = clock
        self.asked: dict[str, float] = {}  #: when each stream was asked, in seconds since 1970
        self._failed: dict[str, JsctlError] = {}

    def take(self, streams: Iterable[str]) -> list[str]:
        """Return the streams to ask in this round: the new ones, and as many others as there is time for.
        Streams that no longer exist are forgotten."""
        names = list(streams)
        times = self.asked = {name: self.asked[name] for name in names if name in self.asked}
        room = max(MIN_PER_ROUND, round(PER_SECOND * self._interval()))
        known = sorted(times, key=lambda name: times[name])
        return [*(name for name in names if name not in times), *known[:room]]

    def note_answers(
        self, streams: Iterable[str], failed: Mapping[str, JsctlError]
    ) -> Mapping[str, JsctlError]:
        """Return why streams could not be asked when it was last their turn. streams: of this round. failed:
        why some of them could not."""
        answered = set(streams)
        self.asked |= dict.fromkeys(answered, self._clock())
        failures = {n: error for n, error in self._failed.items() if n in self.asked and n not in answered}
        self._failed = {**failures, **failed}
        return self._failed

    @property
    def oldest(self) -> float | None:
        """When the consumers that were asked longest ago were asked; None before the first round."""
        return min(self.asked.values(), default=None)
