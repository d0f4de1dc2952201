"""`jsctl server graph`."""

from collections.abc import Sequence
from typing import Any

from jsctl.base.units import format_bytes, format_rfc3339, pluralize, seconds_to_ns
from jsctl.commands.cli import argument, command, option
from jsctl.commands.options.watch import check_graph, graph_flags
from jsctl.env import Env
from jsctl.monitor.polling import Sampler
from jsctl.monitor.server.activity import ServerSample, make_sampler
from jsctl.monitor.server.find import find_server
from jsctl.views.events import Events
from jsctl.views.result import Chart
from jsctl.views.shared.graph import Curve, LineColumn, draw_curves, format_rate, format_whole, sample_events


def _show_events(
    server: str, sampler: Sampler[ServerSample], every: int, *, jetstream: bool, count: int | None
) -> Events[ServerSample]:
    """Return samples, each with its views.

    every: ns between two. jetstream: what JetStream does instead of the whole server. count: how many; None
    for no end.
    """
    about = "JetStream" if jetstream else "Server"
    return sample_events(
        sampler,
        every,
        columns=_JETSTREAM_COLUMNS if jetstream else _SERVER_COLUMNS,
        record=lambda sample: _record(server, sample),
        command="jsctl server graph",
        title=f"{about} Statistics for {server}",
        charts=lambda samples: _list_charts(samples, _JETSTREAM_CURVES if jetstream else _SERVER_CURVES),
        count=count,
    )


def _record(server: str, sample: ServerSample) -> dict[str, Any]:
    return {
        "server": server,
        "at": format_rfc3339(seconds_to_ns(sample.at)),
        "cpu": round(sample.cpu, 3),
        "cores": sample.cores,
        "mem": sample.memory,
        "connections": sample.connections,
        "subscriptions": sample.subscriptions,
        "msgs_rate": round(sample.messages, 3),
        "bytes_rate": round(sample.bytes, 3),
        "jetstream": {
            "memory": sample.stored_memory,
            "storage": sample.stored_files,
            "ha_assets": sample.ha_assets,
            "api_rate": round(sample.api_requests, 3),
            "pending": sample.pending,
        },
    }


def _format_percent(value: float) -> str:
    return f"{value:.1f}"


def _format_size(value: float) -> str:
    return format_bytes(round(value))


def _list_charts(samples: Sequence[ServerSample], drawn: Sequence[Curve]) -> list[Chart]:
    cores = samples[-1].cores if samples else 1
    return draw_curves(
        [Curve(f"CPU % of {pluralize(cores, 'core')}", "cpu", _format_percent), *drawn], samples
    )


_CPU = LineColumn("CPU %", 6, "cpu", _format_percent)
_SERVER_COLUMNS = (
    _CPU,
    LineColumn("Memory", 9, "memory", format_bytes),
    LineColumn("Conns", 7, "connections"),
    LineColumn("Subs", 9, "subscriptions"),
    LineColumn("Msgs/s", 12, "messages", format_rate),
    LineColumn("Bytes/s", 10, "bytes", _format_size),
)
_JETSTREAM_COLUMNS = (
    _CPU,
    LineColumn("Assets", 7, "ha_assets"),
    LineColumn("API/s", 10, "api_requests", format_rate),
    LineColumn("Pending", 7, "pending"),
    LineColumn("Files", 9, "stored_files", format_bytes),
    LineColumn("Memory", 9, "stored_memory", format_bytes),
)
_SERVER_CURVES = (
    Curve("Memory", "memory", _format_size),
    Curve("Connections", "connections", format_whole),
    Curve("Subscriptions", "subscriptions", format_whole),
    Curve("Messages In and Out / second", "messages", format_rate),
    Curve("Bytes In and Out / second", "bytes", _format_size),
)
_JETSTREAM_CURVES = (
    Curve("HA Assets", "ha_assets", format_whole),
    Curve("API Requests / second", "api_requests", format_rate),
    Curve("Pending API Requests", "pending", format_whole),
    Curve("File Storage", "stored_files", _format_size),
    Curve("Memory Storage", "stored_memory", _format_size),
)


@command(
    "graph",
    examples=[
        "jsctl server graph n1",
        "jsctl server graph n1 --jetstream",
        "jsctl server graph n1 --count 60 --json",
    ],
)
@argument("name", metavar="SERVER")
@option("--jetstream", "-j", is_flag=True, help="Draw the charts of JetStream")
@graph_flags
async def graph(env: Env, name: str, jetstream: bool, every: int, count: int | None) -> Events[ServerSample]:
    """Draw charts on a terminal until ctrl-C or q; --as plain or --json writes a line per sample.
    SERVER is a name or an ID. A login of the system account is needed.
    """
    check_graph(env, every, count)
    connection = await env.connection()
    server = (await find_server(connection, name))["server"]
    return _show_events(
        server["name"], make_sampler(connection, server), every, jetstream=jetstream, count=count
    )
