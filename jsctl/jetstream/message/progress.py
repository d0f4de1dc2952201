"""How far mirrors and sources are behind their origins.

What a server reports as the lag is what its origin said with the last message: it is 0 as well where messages
are refused (nats-server: stream.go, processInboundMirrorMsg), where the origin is away, and where the origin
was made anew and is not yet as far as the copy.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.base.units import parse_time_ns
from jsctl.errors import JsctlError, NotFound
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.origins import list_origin_filters
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.batches import count_from
from jsctl.jetstream.stream import requests as streams


class Copying(NamedTuple):
    """What the server of a mirror or source says of it. config: its part of the stream's configuration.
    reported: its lag. reached: see `find_reached`. last_ts: of a mirror's last message, empty for a
    source."""

    config: Mapping[str, Any]
    reported: int
    reached: int | None
    last_ts: str = ""


class Progress(NamedTuple):
    """How far a mirror or source is. lag: messages of its origin that it lacks. ahead: sequences by which it
    is past the last one of its origin. differs: whether the origin has another message than a mirror under
    the mirror's last sequence."""

    lag: int
    ahead: int = 0
    differs: bool = False


async def measure_progress(copy: Copying, origin: Json, api: Api | None) -> Progress:
    """Return how far a mirror or source is. origin: the `state` of its origin. api: through which the origin
    is asked for the rest; None to tell it from the state alone.

    What cannot be determined is as the copy's server says.
    """
    reported, reached = Progress(copy.reported), copy.reached
    if reached is None or (not reached and copy.config.get("opt_start_time")):
        return reported
    try:
        if reached > int(origin["last_seq"]) and api is not None:
            # Its state may be older than the copy's.
            origin = (await streams.fetch_info(api, str(copy.config["name"])))["state"]
        last = int(origin["last_seq"])
        if reached > last:
            return Progress(0, reached - last)
        start = max(reached, int(copy.config.get("opt_start_seq") or 1) - 1)
        lag = min(max(0, last - start), int(origin["messages"]))
        filters = list_origin_filters(copy.config)
        if lag and filters:
            if api is None:
                return reported
            lag = min(lag, await _count_missing(copy, filters, start + 1, api))
        elif lag and origin.get("num_deleted") and api is not None:
            # Its last messages may be deleted, which leaves its last sequence as it is.
            name = str(copy.config["name"])
            lag = lag if await browse.fetch_next(api, name, start + 1) is not None else 0
        is_mirror = bool(reached and copy.last_ts)
        return Progress(
            lag, differs=bool(lag) and is_mirror and api is not None and await _differs(copy, api)
        )
    except JsctlError:
        return reported


async def _count_missing(copy: Copying, filters: Sequence[str], sequence: int, api: Api) -> int:
    """Return how many messages of the origin, beginning at a sequence, pass the filters."""
    name, count = str(copy.config["name"]), 0
    for subject in filters:
        number = await count_from(api, name, sequence, subject)
        if not number and await browse.fetch_next(api, name, sequence, subject) is not None:
            number = max(copy.reported, 1)  # without direct gets, or from a replica that lags
        count += number or 0
    return count


async def _differs(copy: Copying, api: Api) -> bool:
    """Return whether the origin has a message of another time under a mirror's last sequence: a mirror keeps
    sequences and times."""
    try:
        message = await browse.fetch(api, str(copy.config["name"]), copy.reached or 0)
    except NotFound:
        return False
    return parse_time_ns(message.timestamp) != parse_time_ns(copy.last_ts)
