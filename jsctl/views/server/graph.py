"""`server graph`: the activity of a server as lines, JSON records and charts."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from jsctl.monitor.server.activity import ServerSample
from jsctl.units import format_bytes, format_count, format_rfc3339, format_time, seconds_to_ns
from jsctl.views.events import Events
from jsctl.views.result import Chart
from jsctl.views.shared.graph import format_rate, format_whole, sample_events

_SERVER = (
    f"{'Time':<25}  {'CPU %':>6}  {'Memory':>9}  {'Conns':>7}  {'Subs':>9}  {'Msgs/s':>12}  {'Bytes/s':>10}"
)
_JETSTREAM = (
    f"{'Time':<25}  {'CPU %':>6}  {'Assets':>7}  {'API/s':>10}  {'Pending':>7}  {'Files':>9}  {'Memory':>9}"
)


def events(
    server: str, samples: AsyncIterator[ServerSample], *, jetstream: bool, count: int | None
) -> Events[ServerSample]:
    """Return samples, each with its views. jetstream: what JetStream does instead of the whole server. count:
    how many are wanted, None for no end."""
    about = "JetStream" if jetstream else "Server"
    return sample_events(
        samples,
        heading=_JETSTREAM if jetstream else _SERVER,
        line=_jetstream_line if jetstream else _server_line,
        record=lambda sample: _record(server, sample),
        title=f"{about} Statistics for {server}",
        charts=_jetstream_charts if jetstream else _server_charts,
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


def _server_line(sample: ServerSample) -> str:
    return (
        f"{format_time(seconds_to_ns(sample.at)):<25}  {sample.cpu:>6.1f}  {format_bytes(sample.memory):>9}"
        f"  {format_count(sample.connections):>7}  {format_count(sample.subscriptions):>9}"
        f"  {format_rate(sample.messages):>12}  {format_bytes(round(sample.bytes)):>10}"
    )


def _jetstream_line(sample: ServerSample) -> str:
    return (
        f"{format_time(seconds_to_ns(sample.at)):<25}  {sample.cpu:>6.1f}"
        f"  {format_count(sample.ha_assets):>7}  {format_rate(sample.api_requests):>10}"
        f"  {format_count(sample.pending):>7}"
        f"  {format_bytes(sample.stored_files):>9}  {format_bytes(sample.stored_memory):>9}"
    )


def _size(value: float) -> str:
    return format_bytes(round(value))


def _cpu(samples: Sequence[ServerSample]) -> Chart:
    cores = samples[-1].cores if samples else 1
    return Chart(f"CPU % of {cores} cores", [one.cpu for one in samples], label="{:.1f}".format)


def _server_charts(samples: Sequence[ServerSample]) -> list[Chart]:
    return [
        _cpu(samples),
        Chart("Memory", [one.memory for one in samples], label=_size),
        Chart("Connections", [one.connections for one in samples], label=format_whole),
        Chart("Subscriptions", [one.subscriptions for one in samples], label=format_whole),
        Chart("Messages In and Out / second", [one.messages for one in samples], label=format_rate),
        Chart("Bytes In and Out / second", [one.bytes for one in samples], label=_size),
    ]


def _jetstream_charts(samples: Sequence[ServerSample]) -> list[Chart]:
    return [
        _cpu(samples),
        Chart("HA Assets", [one.ha_assets for one in samples], label=format_whole),
        Chart("API Requests / second", [one.api_requests for one in samples], label=format_rate),
        Chart("Pending API Requests", [one.pending for one in samples], label=format_whole),
        Chart("File Storage", [one.stored_files for one in samples], label=_size),
        Chart("Memory Storage", [one.stored_memory for one in samples], label=_size),
    ]
