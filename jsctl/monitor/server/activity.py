"""The activity of a server over time."""

import time
from typing import NamedTuple

from jsctl.errors import NotFound, Unreachable
from jsctl.monitor.polling import Sampler
from jsctl.monitor.server.find import find_server
from jsctl.monitor.server.requests import Json, ask_server
from jsctl.nats.connection import Connection


class ServerSample(NamedTuple):
    """A server at a given time; rates are per second since the sample before, 0 for the first one.

    at: seconds since 1970. cpu: percent of all its cores. memory, stored_memory, stored_files: bytes; the
    last two are JetStream's. pending: operations of the meta group that wait.
    """

    at: float
    cpu: float
    cores: int
    memory: int
    connections: int
    subscriptions: int
    messages: float
    bytes: float
    stored_memory: int
    stored_files: int
    ha_assets: int
    api_requests: float
    pending: int


def make_sampler(connection: Connection, server: Json) -> Sampler[ServerSample]:
    """Return a sampler of a server: {"name", "id"}.

    A restarted server has another ID, and is recognized by its name. Raises what `ask_server`
    raises, and Unreachable while the server is away.
    """
    target = dict(server)

    async def fetch() -> Json:
        try:
            reply = await ask_server(connection, target["id"], "VARZ")
        except NotFound:
            try:
                reply = await find_server(connection, target["name"])
            except NotFound as error:
                raise Unreachable(error.message) from None
            target["id"] = reply["server"]["id"]
        data: Json = reply.get("data") or {}
        return data

    return Sampler(fetch, _build_sample)


def _build_sample(data: Json, previous: Json | None, span: float) -> ServerSample:
    cores = int(data.get("cores") or 1)
    stats, meta = _get_jetstream_stats(data), (data.get("jetstream") or {}).get("meta") or {}

    def rate(now: int, then: int) -> float:
        # A restarted server counts from 0.
        return max(0, now - then) / span if previous is not None else 0.0

    earlier = previous or {}
    return ServerSample(
        at=time.time(),
        cpu=float(data.get("cpu", 0)) / cores,
        cores=cores,
        memory=int(data.get("mem", 0)),
        connections=int(data.get("connections", 0)),
        subscriptions=int(data.get("subscriptions", 0)),
        messages=rate(_sum_directions(data, "msgs"), _sum_directions(earlier, "msgs")),
        bytes=rate(_sum_directions(data, "bytes"), _sum_directions(earlier, "bytes")),
        stored_memory=int(stats.get("memory", 0)),
        stored_files=int(stats.get("storage", 0)),
        ha_assets=int(stats.get("ha_assets", 0)),
        api_requests=rate(_count_api_requests(data), _count_api_requests(earlier)),
        pending=int(meta.get("pending", 0)),
    )


def _sum_directions(data: Json, unit: str) -> int:
    return int(data.get(f"in_{unit}", 0)) + int(data.get(f"out_{unit}", 0))


def _get_jetstream_stats(data: Json) -> Json:
    stats: Json = (data.get("jetstream") or {}).get("stats") or {}
    return stats


def _count_api_requests(data: Json) -> int:
    return int((_get_jetstream_stats(data).get("api") or {}).get("total", 0))
