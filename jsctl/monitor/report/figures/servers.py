"""The figures of servers. A line is a ServerLine; what only the system account knows is None without it."""

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

from jsctl.monitor.report.figures.figure import ColumnPlacement, Figure, Metric, build_placements
from jsctl.monitor.report.lines import ServerLine


def _read_statistics(*keys: str, kind: Callable[[Any], Any] = int) -> Callable[[ServerLine], Any]:
    """Return what reads a key of the statistics, below other keys."""

    def read(line: ServerLine) -> Any:
        value: Any = line.statistics
        for key in keys:
            value = None if value is None else value.get(key)
        return None if value is None else kind(value)

    return read


def _read_row(name: str) -> Callable[[ServerLine], Any]:
    get = attrgetter(f"row.{name}")
    return lambda line: None if line.row is None else get(line)


_place = partial(build_placements, optional=True)
"""Return a column of both, which is left out where it has no value."""


def _make_hosting_figure(key: str, name: str, title: str, about: str) -> Figure:
    """Return a figure that the hosting of the account's streams has under a name."""
    get = attrgetter(f"hosting.{name}")
    return Figure(
        *(key, "natural?", title, "count"),
        lambda line: None if line.hosting is None else get(line),
        about,
        **_place(hideable=0),
    )


def _make_row_figure(key: str, name: str, about: str, metric: Metric | None = None) -> Figure:
    """Return a figure without columns that a row has under a name."""
    return Figure(key, "natural?", read=_read_row(name), about=about, metric=metric, stored=name)


def _make_statistic(key: str, path: str, about: str, metric: Metric) -> Figure:
    """Return a figure without columns that the statistics have at a path."""
    return Figure(key, "natural?", read=_read_statistics(*path.split(".")), about=about, metric=metric)


SERVERS = (
    Figure(
        *("server", "text", "Server", "name", "server", "its name"),
        stored="server",
        **build_placements(hideable=0, read=lambda line: line.server + "*" * line.meta_leader),
    ),
    Figure(
        *("cluster", "text", "Cluster", "text", "cluster", "its cluster, empty if there is none"),
        stored="cluster",
        **_place(hideable=7),
    ),
    Figure("version", "text", "Version", "text", about="its version", **_place(hideable=6)),
    _make_hosting_figure("replicas_led", "leads", "Leads", "streams of the account that it leads"),
    _make_hosting_figure("replicas_followed", "follows", "Follows", "streams of the account that it follows"),
    _make_hosting_figure(
        "replicas_behind", "behind", "Behind", "of these, streams whose replica there is behind"
    ),
    _make_hosting_figure(
        "replicas_offline", "offline", "Offline", "of these, streams whose replica there is offline"
    ),
    _make_hosting_figure("replica_lag", "lag", "Worst Lag", "operations that its worst replica is behind"),
    Figure(
        *("cpu", "real?", "CPU", "cpu", _read_statistics("cpu", kind=float), "in percent of a core"),
        Metric("gnatsd_varz_cpu", "Processor time of the server, in percent of a core"),
        **_place(hideable=0),
    ),
    Figure(
        *("memory_resident", "natural?", "Memory", "bytes", _read_statistics("mem"), "bytes of its process"),
        Metric("gnatsd_varz_mem", "Memory of the server in bytes"),
        **_place(hideable=1),
    ),
    Figure(
        *("connections", "natural?", "Connections", "count", _read_statistics("connections")),
        "connections of clients",
        Metric("gnatsd_varz_connections", "Connections of clients"),
        **_place(hideable=0),
    ),
    _make_statistic(
        "subscriptions",
        "subscriptions",
        "its subscriptions",
        Metric("gnatsd_varz_subscriptions", "Subscriptions of the server"),
    ),
    Figure(
        *("received_rate", "real?", "In", "rate", "received", "messages received per second"),
        **_place(hideable=2, quiet=True),
    ),
    Figure(
        *("sent_rate", "real?", "Out", "rate", "sent", "messages sent per second"),
        **_place(hideable=3, quiet=True),
    ),
    _make_statistic(
        "received_messages",
        "received.msgs",
        "messages received",
        Metric("gnatsd_varz_in_msgs", "Messages that the server has received"),
    ),
    _make_statistic(
        "received_bytes",
        "received.bytes",
        "bytes received",
        Metric("gnatsd_varz_in_bytes", "Bytes that the server has received"),
    ),
    _make_statistic(
        "sent_messages",
        "sent.msgs",
        "messages sent",
        Metric("gnatsd_varz_out_msgs", "Messages that the server has sent"),
    ),
    _make_statistic(
        "sent_bytes",
        "sent.bytes",
        "bytes sent",
        Metric("gnatsd_varz_out_bytes", "Bytes that the server has sent"),
    ),
    Figure(
        *("slow_consumers", "natural?", "Slow", "count", _read_statistics("slow_consumers")),
        "connections that were closed because they read too slowly",
        Metric("gnatsd_varz_slow_consumers", "Connections that were closed because they read too slowly"),
        **_place(hideable=8),
    ),
    _make_row_figure("streams_stored", "streams", "streams on it"),
    _make_row_figure("consumers_stored", "consumers", "consumers on it"),
    _make_row_figure("messages_stored", "messages", "messages on it"),
    _make_row_figure("message_bytes_stored", "bytes", "bytes of these"),
    _make_row_figure(
        "memory_stored",
        "memory",
        "bytes used in memory",
        Metric("gnatsd_varz_jetstream_stats_memory", "Memory that JetStream of the server uses in bytes"),
    ),
    _make_row_figure(
        "file_stored",
        "file",
        "bytes used in files",
        Metric(
            "gnatsd_varz_jetstream_stats_storage", "File storage that JetStream of the server uses in bytes"
        ),
    ),
    Figure(
        *("bytes_stored", "natural?", "Stored", "bytes"),
        lambda line: None if line.row is None else line.row.file + line.row.memory,
        "bytes used in memory and files",
        **_place(hideable=5),
    ),
    _make_statistic(
        "memory_limit",
        "jetstream.config.max_memory",
        "bytes that JetStream may use in memory",
        Metric(
            "jetstream_server_max_memory",
            "Memory that JetStream of the server may use in bytes",
            also="gnatsd_varz_jetstream_config_max_memory",
        ),
    ),
    _make_statistic(
        "file_limit",
        "jetstream.config.max_storage",
        "bytes that JetStream may use in files",
        Metric(
            "jetstream_server_max_storage",
            "File storage that JetStream of the server may use in bytes",
            also="gnatsd_varz_jetstream_config_max_storage",
        ),
    ),
    Figure(
        *("request_rate", "real?", "API", "rate", "requests", "requests to the JetStream API per second"),
        **_place(hideable=4, quiet=True),
    ),
    Figure("error_rate", "real?", read="errors", about="failed requests to the JetStream API per second"),
    _make_row_figure("api_requests", "api", "API requests since it started"),
    _make_row_figure("api_errors", "errors", "of these, failed requests"),
    _make_row_figure("meta_pending", "pending", "pending meta operations"),
    _make_row_figure("meta_quorum", "quorum", "servers that its meta group needs to act, null without one"),
    Figure(
        *("meta_rescue", "bool?"),
        read=_read_row("rescue"),
        about="whether these are fewer than a majority, because of a rescue",
        metric=Metric("jsctl_server_meta_rescue", "Whether the server's meta group acts without a majority"),
        stored="rescue",
    ),
    Figure(
        "meta_leader", "bool", read="meta_leader", about="whether it leads the meta group", stored="leads"
    ),
    _make_row_figure("stream_leaders", "stream_leaders", "streams that it leads"),
    _make_row_figure("consumer_leaders", "consumer_leaders", "consumers that it leads"),
    Figure(
        *("started", "time?", "Started", "time", _read_statistics("start", kind=str), "when it was started"),
        table=ColumnPlacement(hideable=9, optional=True),
        screen=ColumnPlacement(hideable=9, wide=True, quiet=True),
    ),
)
