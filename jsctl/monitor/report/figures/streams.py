"""The figures of streams. A line is a StreamLine."""

from jsctl.monitor.report.figures.figure import Figure, Metric, Shown, show_alike, to_seconds
from jsctl.monitor.report.lines import StreamLine


def _list_replicas(line: StreamLine) -> list[str]:
    return [f"{line.row.leader}*", *line.row.peers] if line.row.leader else [*line.row.peers]


STREAMS = (
    Figure(
        *("stream", "text", "Stream", "name", "row.stream", "its name"),
        **show_alike(at=1, spare=0),
    ),
    Figure(
        *("storage", "text", "Storage", "word", "row.storage", "file or memory"),
        table=Shown(at=2, spare=6),
        screen=Shown(at=15, spare=15, unit="text", wide=True),
    ),
    Figure(
        "placement", "text", read="row.placement", about="cluster and tags that its configuration asks for"
    ),
    Figure(
        *("created", "time?", "Created", "time", "row.created", "when it was created"),
        table=None,
        screen=Shown(at=18, spare=16, wide=True, quiet=True),
    ),
    Figure("replicas", "natural", read="row.replicas", about="configured replicas"),
    Figure(
        *("consumers", "natural", "Consumers", "count", "row.consumers", "consumers on it"),
        Metric("jetstream_stream_consumer_count", "Consumers of the stream"),
        table=Shown(at=3, spare=5),
        screen=Shown(at=9, spare=8),
    ),
    Figure(
        *("messages", "natural", "Messages", "count", "row.messages", "messages in it"),
        Metric("jetstream_stream_total_messages", "Messages in the stream"),
        table=Shown(at=4, spare=0),
        screen=Shown(at=2, spare=0),
    ),
    Figure(
        *("bytes", "natural", "Bytes", "bytes", "row.bytes", "bytes in it"),
        Metric("jetstream_stream_total_bytes", "Bytes in the stream"),
        table=Shown(at=5, spare=2),
        screen=Shown(at=3, spare=2),
    ),
    Figure(
        *("lost", "natural", "Lost", "count", "row.lost", "messages lost"),
        Metric("jsctl_stream_lost_messages", "Messages that the server has lost"),
        table=Shown(at=8, spare=3, unit="bad_count"),
        screen=Shown(at=11, spare=10, optional=True, read=lambda line: line.row.lost or None),
    ),
    Figure("lost_bytes", "natural", read="row.lost_bytes", about="bytes lost"),
    Figure(
        *("deleted", "natural", "Deleted", "count", "row.deleted"),
        "messages deleted between the first and the last message",
        Metric("jsctl_stream_deleted_messages", "Sequences within the stream whose messages were removed"),
        table=Shown(at=9, spare=7),
        screen=Shown(at=12, spare=11, optional=True, read=lambda line: line.row.deleted or None),
    ),
    Figure(
        *("subjects", "natural", "Subjects", "count", "row.subjects", "distinct subjects in it"),
        Metric("jetstream_stream_subject_count", "Subjects in the stream"),
        table=None,
        screen=Shown(at=14, spare=12, wide=True),
    ),
    Figure(
        *("first_seq", "natural", "First", "count", "row.first_seq", "first sequence"),
        Metric("jetstream_stream_first_seq", "First sequence of the stream"),
        table=None,
        screen=Shown(at=16, spare=14, wide=True),
    ),
    Figure(
        *("last_seq", "natural", "Last Seq", "count", "row.last_seq", "last sequence"),
        Metric("jetstream_stream_last_seq", "Last sequence of the stream"),
        table=None,
        screen=Shown(at=17, spare=13, wide=True),
    ),
    Figure(
        "first_ts",
        "time?",
        read="row.first_ts",
        about="time of the first message",
        metric=Metric("jsctl_stream_first_timestamp_seconds", "When the stream's first message was stored"),
    ),
    Figure("last_ts", "time?", read="row.last_ts", about="time of the last message"),
    Figure(
        "api_level", "natural", read="row.api_level", about="JetStream API level that its configuration needs"
    ),
    Figure("cluster", "text?", read="row.cluster", about="its cluster, null on a server without one"),
    Figure("leader", "text?", read="row.leader", about="the server that leads it, null without a leader"),
    Figure(
        *("peers", "[text]", "Replicas", "names", "row.peers"),
        "followers, separated by commas; `!` after one that is offline or behind",
        table=Shown(at=10, spare=1, optional=True, read=_list_replicas),
        screen=Shown(
            at=13, spare=9, optional=True, read=lambda line: _list_replicas(line) if line.row.peers else []
        ),
    ),
    Figure(
        "offline",
        "text?",
        read="row.offline",
        about="why it cannot be reached, null when it can",
        metric=Metric("jsctl_stream_offline", "Whether the stream does not answer"),
    ),
    Figure(
        *("migration", "text?", "Migration", "text", "row.migration"),
        "how far its servers, replicas or retention are changed, null when they are not",
        Metric(
            "jsctl_stream_migrating", "Whether the stream's servers, replicas or retention are being changed"
        ),
        table=Shown(at=11, spare=0, optional=True),
        screen=Shown(at=14, spare=0, optional=True),
    ),
    Figure(
        *("message_rate", "real?", "Msgs/s", "rate", "rate"),
        metric=Metric(
            "jsctl_stream_stored_messages_per_second", "Messages that the stream stores per second"
        ),
        table=Shown(at=6, spare=0),
        screen=Shown(
            *("In", "event_rate", 4, 1, "rate"), read=lambda line: (line.rate, line.event), quiet=True
        ),
        sort="rate",
    ),
    Figure(
        *("byte_rate", "real?", "Growth", "growth", "growth"),
        metric=Metric(
            "jsctl_stream_growth_bytes_per_second", "Growth of the stream, negative when it shrinks"
        ),
        table=Shown(at=7, spare=4),
        screen=Shown(at=6, spare=5, key="growth", quiet=True),
    ),
    Figure("rates", "", "Trend", "trend", "rates", table=None, screen=Shown(at=5, spare=7)),
    Figure(
        *("share_of_limit", "real?", "Full", "share", "share"),
        metric=Metric("jsctl_stream_used_ratio", "How full the stream is by its nearest limit, 0 to 1"),
        table=None,
        screen=Shown(at=7, spare=4, key="share", optional=True),
        listed=False,
    ),
    Figure(
        *("seconds_to_limit", "real?", "Full In", "remaining", lambda line: to_seconds(line.limit)),
        metric=Metric(
            "jsctl_stream_full_seconds", "Seconds until a limit of the stream is reached at this growth"
        ),
        table=None,
        screen=Shown(at=8, spare=3, key="limit", read="limit", optional=True, quiet=True),
        listed=False,
    ),
    Figure(
        *("idle_ns", "ns?", "Last", "since", "idle"),
        metric=Metric("jsctl_stream_idle_seconds", "Seconds since the stream stored its last message"),
        table=None,
        screen=Shown(at=10, spare=6, key="last", quiet=True),
        listed=False,
    ),
    Figure("event", "text?", read=lambda line: line.event or None, listed=False),
)
