"""`jsctl stream graph`."""

from collections.abc import Callable
from functools import partial

from jsctl.commands.cli import argument, command
from jsctl.commands.options.watch import check_graph, graph_flags
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.jetstream.api import Json
from jsctl.jetstream.stream import requests as streams
from jsctl.views.events import Events
from jsctl.views.shared.graph import Curve, Sample, format_rate, sample_events


def _read(key: str) -> Callable[[Json], int]:
    return lambda info: int(info["state"][key])


def _count_removed(info: Json, previous: Json) -> int:
    now, then = info["state"], previous["state"]
    stored = max(0, int(now["last_seq"]) - int(then["last_seq"]))
    return int(then["messages"]) + stored - int(now["messages"])


_MESSAGES = Curve("messages", "Messages", 15, "Messages Stored", _read("messages"))
_BYTES = Curve("bytes", "", 0, "", _read("bytes"))
_STORED = Curve(
    *("stored_rate", "Stored/s", 12, "Messages Stored / second", _read("last_seq"), format_rate, True)
)
_REMOVED = Curve(
    *("removed_rate", "Removed/s", 12, "Messages Removed / second", _read("last_seq"), format_rate, True),
    increase=_count_removed,
)
CURVES = (_MESSAGES, _REMOVED, _STORED)


@command("graph", examples=["jsctl stream graph ORDERS", "jsctl stream graph ORDERS --count 60 --json"])
@argument("stream", default="")
@graph_flags
async def graph(env: Env, stream: str, every: int, count: int | None) -> Events[Sample]:
    """Draw charts on a terminal until ctrl-C or q; --as plain or --json writes a line per sample."""
    check_graph(env, every, count)
    api, name = await open_stream(env, stream)
    fetch = partial(streams.fetch_info, api, name)
    await fetch()
    return sample_events(
        *(fetch, (_MESSAGES, _BYTES, _STORED, _REMOVED), every, count),
        about=f"Stream Statistics for {name}",
        names={"stream": name},
        command="jsctl stream graph",
        columns=(_MESSAGES, _STORED, _REMOVED),
        charts=CURVES,
    )
