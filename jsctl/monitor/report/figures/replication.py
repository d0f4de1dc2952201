"""The figures of mirrors and sources. A line is a LinkLine."""

from jsctl.monitor.report.figures.figure import Figure, Metric, Shown, show_alike, to_seconds

LINKS = (
    Figure(
        *("stream", "text", "Stream", "name", "row.stream", "the stream that copies"),
        **show_alike(at=1, spare=0),
    ),
    Figure(
        *("kind", "mirror|source", "Kind", "word", "row.kind", "mirror or source"),
        table=Shown(at=2, spare=2),
        screen=Shown(at=2, spare=5, unit="text"),
    ),
    Figure(
        *("api_prefix", "text", "API Prefix", "text", "row.api_prefix"),
        "API prefix of the origin, empty for the same domain and account",
        table=Shown(at=3, spare=3),
        screen=Shown(at=4, spare=6, optional=True),
    ),
    Figure(
        *("origin", "text", "Origin", "text", "row.origin", "the stream that is copied"),
        table=Shown("Source Stream", at=4, spare=0),
        screen=Shown(at=3, spare=0),
    ),
    Figure(
        *("filters", "text", "Filters", "text", "row.filters"),
        "what is copied and under which subjects, empty for all",
        table=Shown(at=5, spare=4, optional=True),
        screen=Shown(at=9, spare=7, wide=True, optional=True),
    ),
    Figure(
        *("active_ns", "ns?", "Last Seen", "since", "row.active"),
        "since the origin was last active, null when it never was",
        Metric("jsctl_replication_seen_seconds", "Seconds since the origin was heard from"),
        table=Shown("Active", "seen", at=6, spare=0),
        screen=Shown(at=8, spare=1, key="active", quiet=True),
    ),
    Figure(
        *("lag", "natural", "Lag", "count", "row.lag", "messages behind the origin"),
        table=Shown(at=7, spare=0),
        screen=Shown(at=5, spare=0),
    ),
    Figure(
        *("ahead", "natural", "Ahead", "count", "row.ahead", "sequences past the last one of the origin"),
        Metric("jsctl_replication_ahead", "Sequences by which the copy is past the last one of its origin"),
        table=None,
        screen=None,
    ),
    Figure(
        *("error", "text", "Error", "error", "row.error"),
        "the error that the server reports, empty if there is none",
        Metric("jsctl_replication_failed", "Whether the copy reports an error"),
        table=Shown(at=9, spare=0, optional=True),
        screen=Shown(at=100, spare=2, unit="prose", optional=True),
    ),
    Figure("lag_messages", "natural", read="row.lag"),
    Figure(
        *("lag_rate", "real?", "Lag Trend", "slope", "trend.slope"),
        table=Shown(at=8, spare=1, read=lambda line: (line.trend.slope, line.row.lag)),
        screen=None,
    ),
    Figure("lags", "", "Trend", "trend", "trend.values", table=None, screen=Shown(at=6, spare=4)),
    Figure(
        *("seconds_to_drain", "real?", "Drains In", "drain", lambda line: to_seconds(line.drain)),
        metric=Metric(
            "jsctl_replication_drain_seconds", "Seconds until nothing is left to copy, at this pace"
        ),
        table=None,
        screen=Shown(at=7, spare=3, key="drain", read="drain", quiet=True),
        listed=False,
    ),
)
