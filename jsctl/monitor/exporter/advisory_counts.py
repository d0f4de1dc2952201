"""How many advisories a place published since the exporter started, as counters that never fall."""

from collections import Counter
from collections.abc import Iterator, Sequence

from jsctl.jetstream.api import Json
from jsctl.monitor.exporter.problems import EPHEMERAL, find_ephemeral
from jsctl.monitor.exporter.sample import Labels, Sample
from jsctl.monitor.report.advisories import ADVISORY_KINDS

CONSUMER_COUNTERS = {
    "max_deliver": "jsctl_consumer_max_deliveries_total",
    "terminated": "jsctl_consumer_terminated_total",
}
"""The kinds that are counted by consumer, too."""

_MAX_UNPLACED = 10_000
"""Consumers whose advisories wait until it is known whether they are durable."""


class AdvisoryCounts:
    """The advisories of a place, by kind and by consumer. is_known: whether all of them were received."""

    def __init__(self) -> None:
        self.is_known = False
        self._kinds = Counter(dict.fromkeys(ADVISORY_KINDS, 0))
        self._consumers: Counter[tuple[str, str, str]] = Counter()
        self._unplaced: Counter[tuple[str, str, str]] = Counter()

    def add(self, entries: Sequence[Json] | None, infos: Sequence[Json] | None) -> None:
        """Add those of a round; None if they cannot be received. infos: the consumers, None if they are not
        known. The durable ones have counters of their own, all others of a stream share one. A consumer that
        was created while they were listed is in the next list, so that those of others wait for that."""
        self.is_known = entries is not None
        new: Counter[tuple[str, str, str]] = Counter()
        for entry in entries or ():
            kind, facts = entry["kind"], entry["facts"]
            if kind not in self._kinds:
                continue
            self._kinds[kind] += entry["count"]
            if kind in CONSUMER_COUNTERS and "consumer" in facts:
                new[kind, str(facts.get("stream", "")), str(facts["consumer"])] += entry["count"]
        if infos is None:
            self._unplaced += new
            if len(self._unplaced) > _MAX_UNPLACED:
                self._place(self._unplaced, set())
                self._unplaced.clear()
            return
        names: set[tuple[str, ...]] = {(info["stream_name"], info["name"]) for info in infos}
        durable = names - find_ephemeral(infos)
        self._place(self._unplaced, durable)
        self._unplaced = Counter({key: count for key, count in new.items() if key[1:] not in durable})
        self._place(new - self._unplaced, durable)

    def _place(self, counts: Counter[tuple[str, str, str]], durable: set[tuple[str, ...]]) -> None:
        for (kind, stream, name), count in counts.items():
            self._consumers[kind, stream, name if (stream, name) in durable else EPHEMERAL] += count

    def build_samples(self, where: Labels) -> Iterator[Sample]:
        """Yield the counter of each kind, which begins at 0."""
        yield Sample("jsctl_not_checked", {**where, "part": "advisories"}, float(not self.is_known))
        if self.is_known:
            for kind, count in self._kinds.items():
                yield Sample("jsctl_advisories_total", {**where, "kind": kind}, count)

    def build_consumer_samples(self, labels: Labels) -> Iterator[Sample]:
        """Yield the counters of a consumer. labels: of its metrics; EPHEMERAL are those without a name."""
        stream, name = labels.get("stream_name", ""), labels["consumer_name"]
        if self.is_known:
            for kind, metric in CONSUMER_COUNTERS.items():
                yield Sample(metric, labels, self._consumers[kind, stream, name])
