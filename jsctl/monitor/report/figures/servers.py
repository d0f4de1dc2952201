"""The figures of servers. A line is a ServerLine; what only the system account knows is None without it."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from jsctl.monitor.report.figures.figure import Figure, Metric, Shown
from jsctl.monitor.report.lines import ServerLine


def _read_statistics(*keys: str, kind: Callable[[Any], Any] = int) -> Callable[[ServerLine], Any]:
    """Return what reads a key of the statistics, below other keys."""

    def read(line: ServerLine) -> Any:
        value: Any = line.statistics
        for key in keys:
            value = None if value is None else value.get(key)
        return None if value is None else kind(value)

    return read


def _read_hosting(name: str) -> Callable[[ServerLine], int | None]:
    get = attrgetter(f"hosting.{name}")
    return lambda line: None if line.hosting is None else get(line)


def _read_row(name: str) -> Callable[[ServerLine], Any]:
    get = attrgetter(f"row.{name}")
    return lambda line: None if line.row is None else get(line)


def _compute_stored(line: ServerLine) -> int | None:
    return None if line.row is None else line.row.file + line.row.memory


def _show_name(line: ServerLine) -> str:
    return line.server + ("*" if line.meta_leader else "")


def _place(spare: int, **attrs: Any) -> dict[str, Any]:
    """Return a column of both, which is left out where it has no value."""
    shown = Shown(spare=spare, optional=True, **attrs)
    return {"table": shown, "screen": shown}


_NOWHERE: dict[str, Any] = {"table": None, "screen": None}

SERVERS = (
    Figure(
        *("server", "text", "Server", "name", "server", "its name"),
        stored="server",
        table=Shown(spare=0, read=_show_name),
        screen=Shown(spare=0, read=_show_name),
    ),
    Figure(
        *("cluster", "text", "Cluster", "text", "cluster", "its cluster, empty if there is none"),
        stored="cluster",
        **_place(7),
    ),
    Figure("version", "text", "Version", "text", about="its version", **_place(6)),
    Figure(
        *("replicas_led", "natural?", "Leads", "count", _read_hosting("leads")),
        "streams of the account that it leads",
        **_place(0),
    ),
    Figure(
        *("replicas_followed", "natural?", "Follows", "count", _read_hosting("follows")),
        "streams of the account that it follows",
        **_place(0),
    ),
    Figure(
        *("replicas_behind", "natural?", "Behind", "count", _read_hosting("behind")),
        "of these, streams whose replica there is behind",
        **_place(0),
    ),
    Figure(
        *("replicas_offline", "natural?", "Offline", "count", _read_hosting("offline")),
        "of these, streams whose replica there is offline",
        **_place(0),
    ),
    Figure(
        *("replica_lag", "natural?", "Worst Lag", "count", _read_hosting("lag")),
        "operations that its worst replica is behind",
        **_place(0),
    ),
    Figure(
        *("cpu", "real?", "CPU", "cpu", _read_statistics("cpu", kind=float), "in percent of a core"),
        Metric("gnatsd_varz_cpu", "Processor time of the server, in percent of a core"),
        **_place(0),
    ),
    Figure(
        *("memory_resident", "natural?", "Memory", "bytes", _read_statistics("mem"), "bytes of its process"),
        Metric("gnatsd_varz_mem", "Memory of the server in bytes"),
        **_place(1),
    ),
    Figure(
        *("connections", "natural?", "Connections", "count", _read_statistics("connections")),
        "connections of clients",
        Metric("gnatsd_varz_connections", "Connections of clients"),
        **_place(0),
    ),
    Figure(
        *("subscriptions", "natural?", "", "count", _read_statistics("subscriptions"), "its subscriptions"),
        Metric("gnatsd_varz_subscriptions", "Subscriptions of the server"),
        **_NOWHERE,
    ),
    Figure(
        *("received_rate", "real?", "In", "rate", "received", "messages received per second"),
        **_place(2, quiet=True),
    ),
    Figure(
        *("sent_rate", "real?", "Out", "rate", "sent", "messages sent per second"),
        **_place(3, quiet=True),
    ),
    Figure(
        *("received_messages", "natural?", "", "count", _read_statistics("received", "msgs")),
        "messages received",
        Metric("gnatsd_varz_in_msgs", "Messages that the server has received"),
        **_NOWHERE,
    ),
    Figure(
        *("received_bytes", "natural?", "", "bytes", _read_statistics("received", "bytes")),
        "bytes received",
        Metric("gnatsd_varz_in_bytes", "Bytes that the server has received"),
        **_NOWHERE,
    ),
    Figure(
        *("sent_messages", "natural?", "", "count", _read_statistics("sent", "msgs"), "messages sent"),
        Metric("gnatsd_varz_out_msgs", "Messages that the server has sent"),
        **_NOWHERE,
    ),
    Figure(
        *("sent_bytes", "natural?", "", "bytes", _read_statistics("sent", "bytes"), "bytes sent"),
        Metric("gnatsd_varz_out_bytes", "Bytes that the server has sent"),
        **_NOWHERE,
    ),
    Figure(
        *("slow_consumers", "natural?", "Slow", "count", _read_statistics("slow_consumers")),
        "connections that were closed because they read too slowly",
        Metric("gnatsd_varz_slow_consumers", "Connections that were closed because they read too slowly"),
        **_place(8),
    ),
    Figure(
        *("streams_stored", "natural?", "", "count", _read_row("streams"), "streams on it"),
        stored="streams",
        **_NOWHERE,
    ),
    Figure(
        *("consumers_stored", "natural?", "", "count", _read_row("consumers"), "consumers on it"),
        stored="consumers",
        **_NOWHERE,
    ),
    Figure(
        *("messages_stored", "natural?", "", "count", _read_row("messages"), "messages on it"),
        stored="messages",
        **_NOWHERE,
    ),
    Figure(
        *("message_bytes_stored", "natural?", "", "bytes", _read_row("bytes"), "bytes of these"),
        stored="bytes",
        **_NOWHERE,
    ),
    Figure(
        *("memory_stored", "natural?", "", "bytes", _read_row("memory"), "bytes used in memory"),
        Metric("gnatsd_varz_jetstream_stats_memory", "Memory that JetStream of the server uses in bytes"),
        stored="memory",
        **_NOWHERE,
    ),
    Figure(
        *("file_stored", "natural?", "", "bytes", _read_row("file"), "bytes used in files"),
        Metric(
            "gnatsd_varz_jetstream_stats_storage", "File storage that JetStream of the server uses in bytes"
        ),
        stored="file",
        **_NOWHERE,
    ),
    Figure(
        *("bytes_stored", "natural?", "Stored", "bytes", _compute_stored, "bytes used in memory and files"),
        **_place(5),
    ),
    Figure(
        *("memory_limit", "natural?", "", "bytes", _read_statistics("jetstream", "config", "max_memory")),
        "bytes that JetStream may use in memory",
        Metric(
            "jetstream_server_max_memory",
            "Memory that JetStream of the server may use in bytes",
            also="gnatsd_varz_jetstream_config_max_memory",
        ),
        **_NOWHERE,
    ),
    Figure(
        *("file_limit", "natural?", "", "bytes", _read_statistics("jetstream", "config", "max_storage")),
        "bytes that JetStream may use in files",
        Metric(
            "jetstream_server_max_storage",
            "File storage that JetStream of the server may use in bytes",
            also="gnatsd_varz_jetstream_config_max_storage",
        ),
        **_NOWHERE,
    ),
    Figure(
        *("request_rate", "real?", "API", "rate", "requests", "requests to the JetStream API per second"),
        **_place(4, quiet=True),
    ),
    Figure(
        *("error_rate", "real?", "", "rate", "errors", "failed requests to the JetStream API per second"),
        **_NOWHERE,
    ),
    Figure(
        *("api_requests", "natural?", "", "count", _read_row("api"), "API requests since it started"),
        stored="api",
        **_NOWHERE,
    ),
    Figure(
        *("api_errors", "natural?", "", "count", _read_row("errors"), "of these, failed requests"),
        stored="errors",
        **_NOWHERE,
    ),
    Figure(
        *("meta_pending", "natural?", "", "count", _read_row("pending"), "pending meta operations"),
        stored="pending",
        **_NOWHERE,
    ),
    Figure(
        *("meta_leader", "bool", "", "text", "meta_leader", "whether it leads the meta group"),
        stored="leads",
        **_NOWHERE,
    ),
    Figure(
        *("stream_leaders", "natural?", "", "count", _read_row("stream_leaders"), "streams that it leads"),
        stored="stream_leaders",
        **_NOWHERE,
    ),
    Figure(
        *("consumer_leaders", "natural?", "", "count", _read_row("consumer_leaders")),
        "consumers that it leads",
        stored="consumer_leaders",
        **_NOWHERE,
    ),
    Figure(
        *("started", "time?", "Started", "time", _read_statistics("start", kind=str), "when it was started"),
        table=Shown(spare=9, optional=True),
        screen=Shown(spare=9, wide=True, quiet=True),
    ),
)
