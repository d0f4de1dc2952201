"""The figures of consumers. A line is a ConsumerLine."""

from jsctl.monitor.report.figures.figure import Figure, Metric, Shown, show_alike, to_seconds

CONSUMERS = (
    Figure(
        *("stream", "text", "Stream", "name", "stream"),
        **show_alike(at=1, spare=0),
    ),
    Figure(
        *("consumer", "text", "Consumer", "name", "consumer"),
        **show_alike(at=2, spare=0),
    ),
    Figure(
        *("mode", "push|pull", "Mode", "word", "mode"),
        table=Shown(at=3, spare=5),
        screen=Shown(at=12, spare=9, unit="text", wide=True),
    ),
    Figure(
        *("ack_pending", "natural", "Unacked", "count", "ack_pending"),
        table=Shown("Ack Pending", at=4, spare=1),
        screen=Shown(at=6, spare=4),
    ),
    Figure(
        *("redelivered", "natural", "Redelivered", "count", "redelivered"),
        table=Shown(at=5, spare=3),
        screen=Shown(at=7, spare=7),
    ),
    Figure(
        *("unprocessed", "natural", "Lag", "count", "unprocessed"),
        table=Shown("Unprocessed", at=6, spare=0),
        screen=Shown(at=3, spare=0, key="lag"),
        sort="lag",
    ),
    Figure(
        *("unprocessed_rate", "real?", "Trend", "slope", "trend.slope"),
        table=Shown(at=7, spare=2, read=lambda line: (line.trend.slope, line.unprocessed)),
        screen=None,
    ),
    Figure(
        *("last_delivery_ns", "ns?", "Last", "since", "last_delivery"),
        table=Shown("Last Delivery", at=8, spare=4),
        screen=Shown(at=10, spare=6, key="last", quiet=True),
    ),
    Figure("lag_messages", "natural", read="unprocessed"),
    Figure("lag_rate", "real?", read="trend.slope", listed=False),
    Figure("lags", "", "Trend", "trend", "trend.values", table=None, screen=Shown(at=4, spare=2)),
    Figure(
        *("seconds_to_drain", "real?", "Drains In", "drain", lambda line: to_seconds(line.drain)),
        metric=Metric(
            "jsctl_consumer_drain_seconds", "Seconds until nothing is left to deliver, at this pace"
        ),
        table=None,
        screen=Shown(at=5, spare=1, key="drain", read="drain", quiet=True),
        listed=False,
    ),
    Figure(
        *("delivered_rate", "real?", "Delivered", "rate", "delivered"),
        metric=Metric("jsctl_consumer_delivered_messages_per_second", "Deliveries per second"),
        table=None,
        screen=Shown(at=8, spare=3, key="delivered", quiet=True),
        listed=False,
    ),
    Figure(
        *("acknowledged_rate", "real?", "Acked", "rate", "acknowledged"),
        metric=Metric("jsctl_consumer_acknowledged_messages_per_second", "Acknowledgements per second"),
        table=None,
        screen=Shown(at=9, spare=5, key="acknowledged", quiet=True),
        listed=False,
    ),
    Figure(
        *("waiting_pulls", "natural", "Pulls", "count", "waiting"),
        table=None,
        screen=Shown(at=11, spare=8, key="waiting", wide=True),
        listed=False,
    ),
    Figure(
        *("leader", "text?", "Leader", "text", lambda line: line.leader or None),
        table=None,
        screen=Shown(at=13, spare=10, wide=True, optional=True),
        listed=False,
    ),
    Figure(
        *("migration", "text?", "Migration", "text", lambda line: line.migration or None),
        "how far its servers or replicas are changed, null when they are not",
        Metric("jsctl_consumer_migrating", "Whether the consumer's servers or replicas are being changed"),
        table=Shown(at=9, spare=0, optional=True),
        screen=Shown(at=14, spare=0, optional=True),
    ),
)
