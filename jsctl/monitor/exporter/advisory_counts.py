"""How many advisories a place published since the exporter started, as counters that never fall."""

from collections import Counter
from collections.abc import Iterator, Sequence

from jsctl.jetstream.api import Json
from jsctl.monitor.exporter.problems import EPHEMERAL
from jsctl.monitor.exporter.sample import Labels, Sample
from jsctl.monitor.report.advisories import ADVISORY_KINDS

CONSUMER_COUNTERS = {
    "max_deliver": "jsctl_consumer_max_deliveries_total",
    "terminated": "jsctl_consumer_terminated_total",
}
"""The kinds that are counted by consumer, too."""


class AdvisoryCounts:
    """The advisories of a place, by kind and by consumer. is_known: whether all of them were received."""

    def __init__(self) -> None:
        self.is_known = False
        self._kinds = Counter(dict.fromkeys(ADVISORY_KINDS, 0))
        self._consumers: Counter[tuple[str, str, str]] = Counter()

    def add(self, entries: Sequence[Json] | None, durable: set[tuple[str, str]]) -> None:
        """Add those of a round; None if they cannot be received. durable: streams and names of the consumers
        that have a name of their own; all others of a stream are one."""
        self.is_known = entries is not None
        for entry in entries or ():
            kind, facts = entry["kind"], entry["facts"]
            if kind not in self._kinds:
                continue
            self._kinds[kind] += entry["count"]
            if kind in CONSUMER_COUNTERS and "consumer" in facts:
                stream, name = str(facts.get("stream", "")), str(facts["consumer"])
                label = name if (stream, name) in durable else EPHEMERAL
                self._consumers[kind, stream, label] += entry["count"]

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
