"""The figures of consumers. A line is a ConsumerLine."""

from collections.abc import Callable
from typing import Any

from jsctl.monitor.consumer.rows import ConsumerLine
from jsctl.monitor.report.figures.figure import (
    ColumnPlacement,
    Figure,
    Metric,
    Read,
    build_placements,
    read_known,
    to_seconds,
)


def _make_own(
    name: str,
    title: str,
    unit: str,
    at: int,
    hideable: int,
    read: Read,
    recorded: bool = True,
    value: Read = "",
    **attrs: Any,
) -> Figure:
    """Return a figure of `consumer report` alone. read: of its column. recorded: whether its JSON has it, not
    only a column. value: of its JSON, by default the attribute of its name."""
    own = ColumnPlacement(at=at, hideable=hideable, read=read, **attrs)
    value = value or name.removesuffix("_ns")
    return Figure(name, "", title, unit, value, table=None, screen=None, own=own, recorded=recorded)


def _make_keys(*names: str) -> list[Figure]:
    """Return figures that only the JSON of `consumer report` has."""
    return [Figure(name, "", read=name, recorded=True) for name in names]


_read_ack_age = read_known("ack_age")


def _read_all(*names: str) -> Callable[[ConsumerLine], list[Any]]:
    return lambda line: [getattr(line, name) for name in names]


def _list_replicas(line: ConsumerLine) -> list[str]:
    return sorted([*([f"{line.leader}*"] if line.leader else ()), *line.peers])


CONSUMERS = (
    Figure(
        *("stream", "text", "Stream", "name", "stream"),
        **build_placements(at=1, hideable=0),
        own=ColumnPlacement(at=1, hideable=0),
    ),
    Figure(
        *("consumer", "text", "Consumer", "name", "consumer"),
        **build_placements(at=2, hideable=0),
        own=ColumnPlacement(at=2, hideable=0),
    ),
    Figure(
        *("mode", "push|pull", "Mode", "word", "mode"),
        table=ColumnPlacement(at=3, hideable=5),
        screen=ColumnPlacement(at=12, hideable=9, unit="text", wide=True),
        own=ColumnPlacement(at=3, hideable=3),
    ),
    _make_own("ack_policy", "Ack Policy", "ack_policy", 4, 6, "ack_policy"),
    _make_own(
        *("ack_wait_ns", "Ack Wait", "duration", 5, 8),
        lambda line: None if line.ack_policy == "none" else line.ack_wait,
    ),
    Figure(
        *("ack_pending", "natural", "Unacked", "count", "ack_pending"),
        table=ColumnPlacement("Ack Pending", at=4, hideable=1),
        screen=ColumnPlacement(at=6, hideable=4),
        own=ColumnPlacement("Ack Pending", "limited", 6, 0, read=_read_all("ack_pending", "max_ack_pending")),
    ),
    Figure("max_ack_pending", "", read=read_known("max_ack_pending"), recorded=True),
    Figure(
        *("redelivered", "natural", "Redelivered", "count", "redelivered"),
        table=ColumnPlacement(at=5, hideable=3),
        screen=ColumnPlacement(at=7, hideable=7),
        own=ColumnPlacement(unit="warn_count", at=7, hideable=1),
    ),
    Figure(
        *("unprocessed", "natural", "Lag", "count", "unprocessed"),
        table=ColumnPlacement("Unprocessed", at=6, hideable=0),
        screen=ColumnPlacement(at=3, hideable=0, key="lag"),
        own=ColumnPlacement("Unprocessed", "shared", 8, 0, read=_read_all("unprocessed", "share", "idle")),
        sort="lag",
    ),
    *_make_keys("matching"),
    _make_own("ack_floor", "Ack Floor", "count", 9, 2, "ack_floor"),
    _make_own("ack_age_ns", "Last Ack", "since", 10, 4, _read_ack_age, value=_read_ack_age),
    _make_own("waiting", "Waiting", "interest", 11, 5, _read_all("mode", "waiting", "bound")),
    *_make_keys("bound", "paused_until", "pinned", "api_level", "clustered", "cluster"),
    Figure(
        *("unprocessed_rate", "real?", "Trend", "slope", "trend.slope"),
        table=ColumnPlacement(at=7, hideable=2, read=lambda line: (line.trend.slope, line.unprocessed)),
        screen=None,
    ),
    Figure(
        *("last_delivery_ns", "ns?", "Last", "since", "last_delivery"),
        table=ColumnPlacement("Last Delivery", at=8, hideable=4),
        screen=ColumnPlacement(at=10, hideable=6, key="last", quiet=True),
    ),
    Figure("lag_messages", "natural", read="unprocessed"),
    Figure("lag_rate", "real?", read="trend.slope", listed=False),
    Figure(
        "lags", "", "Trend", "trend", "trend.values", table=None, screen=ColumnPlacement(at=4, hideable=2)
    ),
    Figure(
        *("seconds_to_drain", "real?", "Empty in", "drain", lambda line: to_seconds(line.drain)),
        metric=Metric(
            "jsctl_consumer_drain_seconds", "Seconds until nothing is left to deliver, at this pace"
        ),
        table=None,
        screen=ColumnPlacement(at=5, hideable=1, key="drain", read="drain", quiet=True),
        listed=False,
    ),
    Figure(
        *("delivered_rate", "real?", "Delivered", "rate", "delivered"),
        metric=Metric("jsctl_consumer_delivered_messages_per_second", "Deliveries per second"),
        table=None,
        screen=ColumnPlacement(at=8, hideable=3, key="delivered", quiet=True),
        listed=False,
    ),
    Figure(
        *("acknowledged_rate", "real?", "Acked", "rate", "acknowledged"),
        metric=Metric("jsctl_consumer_acknowledged_messages_per_second", "Acknowledgements per second"),
        table=None,
        screen=ColumnPlacement(at=9, hideable=5, key="acknowledged", quiet=True),
        listed=False,
    ),
    Figure(
        *("waiting_pulls", "natural", "Pulls", "count", "waiting"),
        table=None,
        screen=ColumnPlacement(at=11, hideable=8, key="waiting", wide=True),
        listed=False,
    ),
    Figure(
        *("leader", "text?", "Leader", "text", "leader"),
        table=None,
        screen=ColumnPlacement(at=13, hideable=10, wide=True, optional=True),
        listed=False,
        recorded=True,
    ),
    *_make_keys("peers"),
    Figure(
        *("migration", "text?", "Migration", "text", lambda line: line.migration or None),
        "how far its servers or replicas are changed, null when they are not",
        Metric("jsctl_consumer_migrating", "Whether the consumer's servers or replicas are being changed"),
        table=ColumnPlacement(at=9, hideable=0, optional=True),
        screen=ColumnPlacement(at=14, hideable=0, optional=True, read="migration"),
        own=ColumnPlacement(at=12, hideable=0, optional=True),
    ),
    _make_own("state", "State", "state", 12, 0, _read_all("paused_until", "pinned"), False, optional=True),
    _make_own(
        "troubles", "Trouble", "troubles", 13, 0, lambda line: line, False, key="trouble", optional=True
    ),
    _make_own(
        *("servers", "Cluster", "group", 14, 7),
        lambda line: (_list_replicas(line), line.clustered and not line.leader),
        recorded=False,
        key="cluster",
    ),
)
