"""`jsctl server graph`."""

from collections.abc import Callable, Mapping
from typing import Any

from jsctl.base.units import format_bytes, pluralize
from jsctl.commands.cli import argument, command, option
from jsctl.commands.options.watch import check_graph, graph_flags
from jsctl.env import Env
from jsctl.errors import NotFound, Unreachable
from jsctl.jetstream.api import Json
from jsctl.monitor.server.find import find_server
from jsctl.monitor.server.requests import ask_server
from jsctl.views.events import Events
from jsctl.views.shared.graph import Curve, Sample, format_rate, sample_events


def _format_percent(value: float) -> str:
    return f"{value:.1f}"


def _format_size(value: float) -> str:
    return format_bytes(round(value))


def _read(path: str) -> Callable[[Json], int]:
    """Return what reads a number of VARZ. path: keys, with dots between them."""
    *names, last = path.split(".")

    def read(data: Json) -> int:
        for name in names:
            data = data.get(name) or {}
        return int(data.get(last, 0))

    return read


def _sum_directions(unit: str) -> Callable[[Json], int]:
    return lambda data: int(data.get(f"in_{unit}", 0)) + int(data.get(f"out_{unit}", 0))


def _count_cores(data: Json) -> int:
    return int(data.get("cores") or 1)


def _read_cpu(data: Json) -> float:
    return float(data.get("cpu", 0)) / _count_cores(data)


_CPU = Curve("cpu", "CPU %", 6, "CPU %", _read_cpu, _format_percent)
_SERVER = (
    Curve("mem", "Memory", 9, "Memory", _read("mem"), _format_size),
    Curve("connections", "Conns", 7, "Connections", _read("connections")),
    Curve("subscriptions", "Subs", 9, "Subscriptions", _read("subscriptions")),
    Curve(
        *("msgs_rate", "Msgs/s", 12, "Messages In and Out / second"),
        *(_sum_directions("msgs"), format_rate, True),
    ),
    Curve(
        *("bytes_rate", "Bytes/s", 10, "Bytes In and Out / second"),
        *(_sum_directions("bytes"), _format_size, True),
    ),
)
_MEMORY = Curve(
    "jetstream.memory", "Memory", 9, "Memory Storage", _read("jetstream.stats.memory"), _format_size
)
_FILES = Curve(
    "jetstream.storage", "Files", 9, "File Storage", _read("jetstream.stats.storage"), _format_size
)
_JETSTREAM = (
    Curve("jetstream.ha_assets", "Assets", 7, "HA Assets", _read("jetstream.stats.ha_assets")),
    Curve(
        *("jetstream.api_rate", "API/s", 10, "API Requests / second"),
        *(_read("jetstream.stats.api.total"), format_rate, True),
    ),
    Curve("jetstream.pending", "Pending", 7, "Pending API Requests", _read("jetstream.meta.pending")),
)
_ALL = (_CPU, Curve("cores", "", 0, "", _count_cores), *_SERVER, _MEMORY, _FILES, *_JETSTREAM)


def _build_record(values: Mapping[str, Any]) -> Json:
    own = {key: value for key, value in values.items() if "." not in key}
    jetstream = {key.partition(".")[2]: value for key, value in values.items() if "." in key}
    return {**own, "jetstream": jetstream}


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
async def graph(env: Env, name: str, jetstream: bool, every: int, count: int | None) -> Events[Sample]:
    """Draw charts on a terminal until ctrl-C or q; --as plain or --json writes a line per sample.
    SERVER is a name or an ID. A login of the system account is needed.
    """
    check_graph(env, every, count)
    connection = await env.connection()
    found = await find_server(connection, name)
    server = dict(found["server"])

    async def fetch() -> Json:
        try:
            reply = await ask_server(connection, server["id"], "VARZ")
        except NotFound:  # a server that was restarted has another ID, and its name
            try:
                reply = await find_server(connection, server["name"])
            except NotFound as error:
                raise Unreachable(error.message) from None
            server["id"] = reply["server"]["id"]
        data: Json = reply.get("data") or {}
        return data

    shown = (_CPU, *_JETSTREAM, _FILES, _MEMORY) if jetstream else (_CPU, *_SERVER)
    cores = pluralize(_count_cores(found.get("data") or {}), "core")
    return sample_events(
        *(fetch, _ALL, every, count),
        about=f"{'JetStream' if jetstream else 'Server'} Statistics for {server['name']}",
        names={"server": server["name"]},
        command="jsctl server graph",
        columns=shown,
        charts=(_CPU._replace(caption=f"CPU % of {cores}"), *shown[1:]),
        record=_build_record,
    )
