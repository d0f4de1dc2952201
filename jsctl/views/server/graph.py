"""`server graph`: the activity of a server as lines, JSON records and charts."""

from collections.abc import Sequence
from typing import Any

from jsctl.base.units import format_bytes, format_count, format_rfc3339, format_time, pluralize, seconds_to_ns
from jsctl.monitor.polling import Sampler
from jsctl.monitor.server.activity import ServerSample
from jsctl.views.events import Events
from jsctl.views.result import Chart
from jsctl.views.shared.graph import Curve, curves, format_rate, format_whole, sample_events

_SERVER = (
    f"{'Time':<25}  {'CPU %':>6}  {'Memory':>9}  {'Conns':>7}  {'Subs':>9}  {'Msgs/s':>12}  {'Bytes/s':>10}"
)
_JETSTREAM = (
    f"{'Time':<25}  {'CPU %':>6}  {'Assets':>7}  {'API/s':>10}  {'Pending':>7}  {'Files':>9}  {'Memory':>9}"
)


def events(
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
        heading=_JETSTREAM if jetstream else _SERVER,
        line=_format_jetstream_line if jetstream else _format_server_line,
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


def _format_server_line(sample: ServerSample) -> str:
    return (
        f"{format_time(seconds_to_ns(sample.at)):<25}  {sample.cpu:>6.1f}  {format_bytes(sample.memory):>9}"
        f"  {format_count(sample.connections):>7}  {format_count(sample.subscriptions):>9}"
        f"  {format_rate(sample.messages):>12}  {format_bytes(round(sample.bytes)):>10}"
    )


def _format_jetstream_line(sample: ServerSample) -> str:
    return (
        f"{format_time(seconds_to_ns(sample.at)):<25}  {sample.cpu:>6.1f}"
        f"  {format_count(sample.ha_assets):>7}  {format_rate(sample.api_requests):>10}"
        f"  {format_count(sample.pending):>7}"
        f"  {format_bytes(sample.stored_files):>9}  {format_bytes(sample.stored_memory):>9}"
    )


def _format_size(value: float) -> str:
    return format_bytes(round(value))


def _list_charts(samples: Sequence[ServerSample], drawn: Sequence[Curve]) -> list[Chart]:
    cores = samples[-1].cores if samples else 1
    return curves(samples, [Curve(f"CPU % of {pluralize(cores, 'core')}", "cpu", "{:.1f}".format), *drawn])


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
