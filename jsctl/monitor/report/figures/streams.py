"""The figures of streams. A line is a StreamLine."""

from jsctl.monitor.report.figures.figure import ColumnPlacement, Figure, Metric, build_placements, to_seconds
from jsctl.monitor.report.lines import StreamLine


def _list_replicas(line: StreamLine) -> list[str]:
    return [f"{line.row.leader}*", *line.row.peers] if line.row.leader else [*line.row.peers]


STREAMS = (
    Figure(
        *("stream", "text", "Stream", "name", "row.stream", "its name"),
        **build_placements(at=1, hideable=0),
        own=ColumnPlacement(hideable=0),
        sort="name",
    ),
    Figure(
        *("storage", "text", "Storage", "word", "row.storage", "file or memory"),
        table=ColumnPlacement(at=2, hideable=6),
        screen=ColumnPlacement(at=15, hideable=15, unit="text", wide=True),
        own=ColumnPlacement(hideable=4),
    ),
    Figure(
        *("placement", "text", "Placement", "text", "row.placement"),
        "cluster and tags that its configuration asks for",
        table=None,
        screen=None,
        own=ColumnPlacement(hideable=6),
    ),
    Figure(
        *("created", "time?", "Created", "time", "row.created", "when it was created"),
        table=None,
        screen=ColumnPlacement(at=18, hideable=16, wide=True, quiet=True),
    ),
    Figure(
        *("replicas", "natural", "Replicas", "replicas", "row.replicas", "configured replicas"),
        table=None,
        screen=None,
        own=ColumnPlacement(at=60, hideable=2, read=lambda line: (line.row.replicas, _list_replicas(line))),
    ),
    Figure(
        *("consumers", "natural", "Consumers", "count", "row.consumers", "consumers on it"),
        Metric("jetstream_stream_consumer_count", "Consumers of the stream"),
        table=ColumnPlacement(at=3, hideable=5),
        screen=ColumnPlacement(at=9, hideable=8),
        own=ColumnPlacement(hideable=1),
    ),
    Figure(
        *("messages", "natural", "Messages", "count", "row.messages", "messages in it"),
        Metric("jetstream_stream_total_messages", "Messages in the stream"),
        table=ColumnPlacement(at=4, hideable=0),
        screen=ColumnPlacement(at=2, hideable=0),
        own=ColumnPlacement(hideable=0),
    ),
    Figure(
        *("bytes", "natural", "Bytes", "bytes", "row.bytes", "bytes in it"),
        Metric("jetstream_stream_total_bytes", "Bytes in the stream"),
        table=ColumnPlacement(at=5, hideable=2),
        screen=ColumnPlacement(at=3, hideable=2),
        own=ColumnPlacement(hideable=0),
    ),
    Figure(
        *("lost", "natural", "Lost", "count", "row.lost", "messages lost"),
        Metric("jsctl_stream_lost_messages", "Messages that the server has lost"),
        table=ColumnPlacement(at=8, hideable=3, unit="bad_count"),
        screen=ColumnPlacement(at=11, hideable=10, optional=True, read=lambda line: line.row.lost or None),
        own=ColumnPlacement(unit="lost", hideable=3, read=lambda line: (line.row.lost, line.row.lost_bytes)),
    ),
    Figure("lost_bytes", "natural", read="row.lost_bytes", about="bytes lost"),
    Figure(
        *("deleted", "natural", "Deleted", "count", "row.deleted"),
        "messages deleted between the first and the last message",
        Metric("jsctl_stream_deleted_messages", "Sequences within the stream whose messages were removed"),
        table=ColumnPlacement(at=9, hideable=7),
        screen=ColumnPlacement(at=12, hideable=11, optional=True, read=lambda line: line.row.deleted or None),
        own=ColumnPlacement(hideable=5),
    ),
    Figure(
        *("subjects", "natural", "Subjects", "count", "row.subjects", "distinct subjects in it"),
        Metric("jetstream_stream_subject_count", "Subjects in the stream"),
        table=None,
        screen=ColumnPlacement(at=14, hideable=12, wide=True),
    ),
    Figure(
        *("first_seq", "natural", "First", "count", "row.first_seq", "first sequence"),
        Metric("jetstream_stream_first_seq", "First sequence of the stream"),
        table=None,
        screen=ColumnPlacement(at=16, hideable=14, wide=True),
    ),
    Figure(
        *("last_seq", "natural", "Last Seq", "count", "row.last_seq", "last sequence"),
        Metric("jetstream_stream_last_seq", "Last sequence of the stream"),
        table=None,
        screen=ColumnPlacement(at=17, hideable=13, wide=True),
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
        *("api_level", "natural", "API Level", "count", "row.api_level"),
        "JetStream API level that its configuration needs",
        table=None,
        screen=None,
        own=ColumnPlacement(hideable=7),
    ),
    Figure("cluster", "text?", read="row.cluster", about="its cluster, null on a server without one"),
    Figure("leader", "text?", read="row.leader", about="the server that leads it, null without a leader"),
    Figure(
        *("peers", "[text]", "Replicas", "names", "row.peers"),
        "followers, separated by commas; `!` after one that is offline or behind",
        table=ColumnPlacement(at=10, hideable=1, optional=True, read=_list_replicas),
        screen=ColumnPlacement(
            at=13, hideable=9, optional=True, read=lambda line: _list_replicas(line) if line.row.peers else []
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
        table=ColumnPlacement(at=11, hideable=0, optional=True),
        screen=ColumnPlacement(at=14, hideable=0, optional=True),
        own=ColumnPlacement(at=61, hideable=0, optional=True),
    ),
    Figure(
        *("message_rate", "real?", "Msgs/s", "rate", "rate"),
        metric=Metric(
            "jsctl_stream_stored_messages_per_second", "Messages that the stream stores per second"
        ),
        table=ColumnPlacement(at=6, hideable=0),
        screen=ColumnPlacement(
            *("In", "event_rate", 4, 1, "rate"), read=lambda line: (line.rate, line.event), quiet=True
        ),
        sort="rate",
    ),
    Figure(
        *("byte_rate", "real?", "Growth", "growth", "growth"),
        metric=Metric(
            "jsctl_stream_growth_bytes_per_second", "Growth of the stream, negative when it shrinks"
        ),
        table=ColumnPlacement(at=7, hideable=4),
        screen=ColumnPlacement(at=6, hideable=5, key="growth", quiet=True),
    ),
    Figure("rates", "", "Trend", "trend", "rates", table=None, screen=ColumnPlacement(at=5, hideable=7)),
    Figure(
        *("share_of_limit", "real?", "Full", "share", "share"),
        metric=Metric("jsctl_stream_used_ratio", "How full the stream is by its nearest limit, 0 to 1"),
        table=None,
        screen=ColumnPlacement(at=7, hideable=4, key="share", optional=True),
        listed=False,
    ),
    Figure(
        *("seconds_to_limit", "real?", "Full in", "remaining", lambda line: to_seconds(line.limit)),
        metric=Metric(
            "jsctl_stream_full_seconds", "Seconds until a limit of the stream is reached at this growth"
        ),
        table=None,
        screen=ColumnPlacement(at=8, hideable=3, key="limit", read="limit", optional=True, quiet=True),
        listed=False,
    ),
    Figure(
        *("idle_ns", "ns?", "Last", "since", "idle"),
        metric=Metric("jsctl_stream_idle_seconds", "Seconds since the stream stored its last message"),
        table=None,
        screen=ColumnPlacement(at=10, hideable=6, key="last", quiet=True),
        listed=False,
    ),
    Figure("event", "text?", read=lambda line: line.event or None, listed=False),
)
