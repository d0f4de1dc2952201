"""The figures of accounts, or of their tiers. A line is an AccountLine."""

from jsctl.monitor.report.figures.figure import (
    ColumnPlacement,
    Figure,
    Metric,
    build_placements,
    read_known,
    to_seconds,
)

ACCOUNTS = (
    Figure(
        *("tier", "text", "Tier", "text", "tier", "the tier, such as R3; empty if the account has none"),
        stored="tier",
        **build_placements(hideable=0, optional=True),
    ),
    Figure(
        *("stream_count", "natural", "Streams", "count", "streams", "streams in it"),
        stored="streams",
        **build_placements(hideable=0),
    ),
    Figure(
        *("max_streams", "natural?", "of", "limit", read_known("max_streams")),
        "most streams that it may have, null without a limit",
        stored="max_streams",
        **build_placements(hideable=7, optional=True),
    ),
    Figure(
        *("consumer_count", "natural", "Consumers", "count", "consumers", "consumers in it"),
        stored="consumers",
        **build_placements(hideable=1),
    ),
    Figure(
        *("max_consumers", "natural?", "of", "limit", read_known("max_consumers")),
        "most consumers that it may have, null without a limit",
        stored="max_consumers",
        table=ColumnPlacement(hideable=8, optional=True),
        screen=ColumnPlacement(hideable=0, wide=True),
    ),
    Figure(
        *("file_used", "natural", "File", "bytes", "file", "bytes used in files"),
        Metric("jetstream_account_storage_used", "File storage that the account uses in bytes"),
        stored="file",
        **build_placements(hideable=0),
    ),
    Figure(
        *("max_file", "natural?", "of", "bytes_limit", read_known("max_file")),
        "most bytes that it may use in files, null without a limit",
        Metric(
            "jetstream_account_max_storage",
            "File storage that the account may use in bytes, -1 for no limit",
            unknown=-1,
        ),
        stored="max_file",
        **build_placements(hideable=2),
    ),
    Figure(
        *("file_share", "real?", "Full", "share"),
        lambda line: line.file / line.max_file if line.max_file > 0 else None,
        "how full its file storage is, 0 to 1, null without a limit",
        **build_placements(hideable=0),
    ),
    Figure(
        *("file_rate", "real?", "Growth", "growth", "growth"),
        "growth of its file storage in bytes per second",
        table=ColumnPlacement(hideable=4),
        screen=ColumnPlacement(hideable=4, quiet=True),
    ),
    Figure(
        *("seconds_to_limit", "real?", "Full in", "remaining", lambda line: to_seconds(line.limit)),
        "until its file storage is full",
        Metric("jsctl_account_full_seconds", "Seconds until the file storage is full at this growth"),
        table=None,
        screen=ColumnPlacement(unit="remaining_hour", hideable=3, read="limit", quiet=True),
    ),
    Figure(
        *("memory_used", "natural", "Memory", "bytes", "memory", "bytes used in memory"),
        Metric("jetstream_account_memory_used", "Memory that the account uses in bytes"),
        stored="memory",
        **build_placements(hideable=5),
    ),
    Figure(
        *("max_memory", "natural?", "of", "bytes_limit", read_known("max_memory")),
        "most bytes that it may use in memory, null without a limit",
        Metric(
            "jetstream_account_max_memory",
            "Memory that the account may use, -1 for no limit",
            unknown=-1,
        ),
        stored="max_memory",
        table=ColumnPlacement(hideable=9, optional=True),
        screen=ColumnPlacement(hideable=0, wide=True),
    ),
    Figure(
        *("request_rate", "real?", "API", "rate", "requests", "requests to the JetStream API per second"),
        table=ColumnPlacement(hideable=6),
        screen=ColumnPlacement(hideable=6, quiet=True),
    ),
    Figure("error_rate", "real?", read="errors", about="failed requests to the JetStream API per second"),
    Figure(
        *("api_errors", "natural", "API Errors", "count", "failed", "failed requests to the JetStream API"),
        Metric("jsctl_account_api_errors", "Errors of the JetStream API for the account"),
        stored="api_errors",
        table=ColumnPlacement(hideable=3),
        screen=ColumnPlacement(hideable=0),
    ),
)
