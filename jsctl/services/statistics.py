"""Statistics of services over time: rates, errors, and the balance of their instances."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from jsctl.jetstream.api import Json


class Count(NamedTuple):
    """The counters of an endpoint of one instance. processing: ns."""

    requests: int
    errors: int
    processing: int


Key = tuple[str, str, str]
"""Service, endpoint, instance."""


class Row(NamedTuple):
    """An endpoint over all of its instances.

    rates: per second, None if unknown. average: ns of processing per request since the previous sample, -1
    without requests. skew: the busiest instance's share relative to an even one, 1.0 for even work; 0.0
    without requests.
    """

    service: str
    endpoint: str
    instances: int
    requests: int
    rate: float | None
    errors: int
    error_rate: float | None
    average: int
    skew: float


def read_counts(documents: Iterable[Json]) -> dict[Key, Count]:
    """Return the counters of all endpoints."""
    return {
        (document["name"], endpoint["name"], document["id"]): Count(
            endpoint.get("num_requests") or 0,
            endpoint.get("num_errors") or 0,
            endpoint.get("processing_time") or 0,
        )
        for document in documents
        for endpoint in document["endpoints"]
    }


def compute_rows(
    current: Mapping[Key, Count], previous: Mapping[Key, Count], seconds: float
) -> Sequence[Row]:
    """Return the changes between two samples. The counters of a new or restarted instance begin at 0.

    For the first sample (`seconds` 0), averages and skew cover the instances' whole lives.
    """
    endpoints: dict[tuple[str, str], list[tuple[Count, Count]]] = defaultdict(list)
    for (service, endpoint, instance), count in sorted(current.items()):
        earlier = previous.get((service, endpoint, instance), Count(0, 0, 0))
        if earlier.requests > count.requests:
            earlier = Count(0, 0, 0)
        change = Count(*(new - old for new, old in zip(count, earlier, strict=True)))
        endpoints[service, endpoint].append((count, change))
    return [_build_row(*key, pairs, seconds) for key, pairs in endpoints.items()]


def _build_row(service: str, endpoint: str, pairs: Sequence[tuple[Count, Count]], seconds: float) -> Row:
    changes = [change for _, change in pairs]
    requests = sum(change.requests for change in changes)
    errors = sum(change.errors for change in changes)
    busiest = max(change.requests for change in changes)
    return Row(
        service,
        endpoint,
        len(pairs),
        sum(count.requests for count, _ in pairs),
        requests / seconds if seconds else 0.0,
        sum(count.errors for count, _ in pairs),
        errors / seconds if seconds else 0.0,
        sum(change.processing for change in changes) // requests if requests else -1,
        round(busiest * len(pairs) / requests, 2) if requests else 0.0,
    )
