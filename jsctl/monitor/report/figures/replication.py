"""The figures of mirrors and sources. A line is a LinkLine."""

from jsctl.monitor.report.figures.figure import ColumnPlacement, Figure, Metric, build_placements, to_seconds
from jsctl.monitor.report.lines import LinkLine


def _describe_error(line: LinkLine) -> str:
    """Return the error that the server reports, or what else is wrong."""
    return line.row.error or ", ".join(trouble.words for trouble in line.troubles)


LINKS = (
    Figure(
        *("stream", "text", "Stream", "name", "row.stream", "the stream that copies"),
        **build_placements(at=1, hideable=0),
        own=ColumnPlacement(hideable=0),
    ),
    Figure(
        *("kind", "mirror|source", "Kind", "word", "row.kind", "mirror or source"),
        table=ColumnPlacement(at=2, hideable=2),
        screen=ColumnPlacement(at=2, hideable=5, unit="text"),
        own=ColumnPlacement(hideable=3),
    ),
    Figure(
        *("api_prefix", "text", "API Prefix", "text", "row.api_prefix"),
        "API prefix of the origin, empty for the same domain and account",
        table=ColumnPlacement(at=3, hideable=3),
        screen=ColumnPlacement(at=4, hideable=6, optional=True),
        own=ColumnPlacement(hideable=2),
    ),
    Figure(
        *("origin", "text", "Origin", "text", "row.origin", "the stream that is copied"),
        table=ColumnPlacement("Source Stream", at=4, hideable=0),
        screen=ColumnPlacement(at=3, hideable=0),
        own=ColumnPlacement("Source Stream", hideable=0, key="source"),
    ),
    Figure(
        *("filters", "text", "Filters", "text", "row.filters"),
        "what is copied and under which subjects, empty for all",
        table=ColumnPlacement(at=5, hideable=4, optional=True),
        screen=ColumnPlacement(at=9, hideable=7, wide=True, optional=True),
        own=ColumnPlacement("Filters and Transforms", hideable=4),
    ),
    Figure(
        *("active_ns", "ns?", "Last Seen", "since", "row.active"),
        "since the origin was last active, null when it never was",
        Metric("jsctl_replication_seen_seconds", "Seconds since the origin was heard from"),
        table=ColumnPlacement("Active", "seen", at=6, hideable=0),
        screen=ColumnPlacement(at=8, hideable=1, key="active", quiet=True),
        own=ColumnPlacement("Active", hideable=1),
    ),
    Figure(
        *("lag", "natural", "Lag", "count", "row.lag", "messages behind the origin"),
        table=ColumnPlacement(at=7, hideable=0),
        screen=ColumnPlacement(at=5, hideable=0),
        own=ColumnPlacement(hideable=0),
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
        table=ColumnPlacement(at=9, hideable=0, optional=True),
        screen=ColumnPlacement(at=100, hideable=2, unit="prose", optional=True),
        own=ColumnPlacement(hideable=0, read=_describe_error),
    ),
    Figure("lag_messages", "natural", read="row.lag"),
    Figure(
        *("lag_rate", "real?", "Lag Trend", "slope", "trend.slope"),
        table=ColumnPlacement(at=8, hideable=1, read=lambda line: (line.trend.slope, line.row.lag)),
        screen=None,
    ),
    Figure(
        "lags", "", "Trend", "trend", "trend.values", table=None, screen=ColumnPlacement(at=6, hideable=4)
    ),
    Figure(
        *("seconds_to_drain", "real?", "Empty in", "drain", lambda line: to_seconds(line.drain)),
        metric=Metric(
            "jsctl_replication_drain_seconds", "Seconds until nothing is left to copy, at this pace"
        ),
        table=None,
        screen=ColumnPlacement(at=7, hideable=3, key="drain", read="drain", quiet=True),
        listed=False,
    ),
)
