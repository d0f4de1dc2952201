"""The connections of one server or of all, from round to round, with rates."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from jsctl.monitor.server.find import find_server
from jsctl.monitor.server.reports import parse_span
from jsctl.monitor.server.requests import Json, ask_server, ping
from jsctl.monitor.server.watching import Rounds
from jsctl.nats.connection import Connection

SORTS = (
    "cid",
    "start",
    "subs",
    "pending",
    "msgs_to",
    "msgs_from",
    "bytes_to",
    "bytes_from",
    "last",
    "idle",
    "uptime",
    "stop",
    "reason",
    "rtt",
)
"""The orders in which servers sort connections (server/monitor_sort_opts.go)."""

_CLOSED = frozenset({"stop", "reason"})  #: orders for closed connections only


@dataclass(frozen=True, slots=True)
class TopRow:
    """A connection. to: what the server sent it. Rates are per second; rtt, idle and uptime are ns."""

    server: str
    cid: int
    host: str
    name: str
    account: str
    subs: int
    pending: int
    msgs_to: int
    msgs_from: int
    bytes_to: int
    bytes_from: int
    msgs_to_rate: float
    msgs_from_rate: float
    bytes_to_rate: int
    bytes_from_rate: int
    rtt: int
    idle: int
    uptime: int
    lang: str
    version: str
    subjects: str
    reason: str


@dataclass(frozen=True, slots=True)
class ServerLoad:
    """The load of servers, summed over all of them.

    cpu: percent of one core. uptime: ns, of the server that was started last. rates: messages in and out,
    then bytes, per second. connections: how many they have, whether shown or not.
    """

    names: Sequence[str]
    version: str
    uptime: int
    cpu: float
    cores: int
    mem: int
    slow_consumers: int
    connections: int
    in_msgs: int
    out_msgs: int
    in_bytes: int
    out_bytes: int
    rates: tuple[float, float, float, float]


class Top:
    """A source of connections with rates. limit: of each server. lookup: whether addresses become host
    names."""

    def __init__(
        self,
        connection: Connection,
        server: str,
        *,
        limit: int,
        order: str,
        subscriptions: bool,
        lookup: bool,
        clock: Callable[[], float],
    ) -> None:
        self._connection = connection
        self._server = server
        self._body: Json = {"limit": limit, "sort": order, "auth": True, "subscriptions": subscriptions}
        if order in _CLOSED:
            self._body["state"] = 1
        self._order = order
        self._limit = limit
        self._lookup = lookup
        self._rounds = Rounds(clock)
        self._hosts: dict[str, str] = {}

    async def fetch(self) -> tuple[ServerLoad, list[TopRow]]:
        """Fetch connections once. Raises NotFound for a server that does not exist, Denied."""
        if self._server:
            varz = [await find_server(self._connection, self._server)]
            connz = [await ask_server(self._connection, varz[0]["server"]["id"], "CONNZ", self._body)]
        else:
            varz = await ping(self._connection, "VARZ")
            connz = await ping(self._connection, "CONNZ", self._body, expect=len(varz))
        self._rounds.begin()
        load = self._build_load(varz, connz)
        if self._lookup:
            await self._look_up({str(client.get("ip", "")) for client, _ in _list_connections(connz)})
        rows = [self._build_row(client, server) for client, server in _list_connections(connz)]
        if len(connz) > 1:  # each server sorted only its own
            rows = sorted(rows, key=_KEYS.get(self._order, _KEYS["cid"]))[: self._limit]
        return load, rows

    def _build_load(self, varz: Sequence[Json], connz: Sequence[Json]) -> ServerLoad:
        reports = [reply.get("data") or {} for reply in varz]

        def total(key: str) -> int:
            return sum(int(data.get(key, 0)) for data in reports)

        counters = tuple(total(key) for key in ("in_msgs", "out_msgs", "in_bytes", "out_bytes"))
        first, second, third, fourth = self._rounds.rates("servers", *counters)
        versions = sorted({str(data.get("version", "")) for data in reports})
        return ServerLoad(
            names=sorted(str(reply["server"]["name"]) for reply in varz),
            version=", ".join(versions),
            uptime=min((parse_span(data.get("uptime")) for data in reports), default=0),
            cpu=sum(float(data.get("cpu", 0)) for data in reports),
            cores=total("cores"),
            mem=total("mem"),
            slow_consumers=total("slow_consumers"),
            connections=sum(int((reply.get("data") or {}).get("total", 0)) for reply in connz),
            in_msgs=counters[0],
            out_msgs=counters[1],
            in_bytes=counters[2],
            out_bytes=counters[3],
            rates=(first, second, third, fourth),
        )

    def _build_row(self, client: Json, server: Json) -> TopRow:
        to, from_client = int(client.get("out_msgs", 0)), int(client.get("in_msgs", 0))
        bytes_to, bytes_from = int(client.get("out_bytes", 0)), int(client.get("in_bytes", 0))
        to_rate, from_rate, bytes_to_rate, bytes_from_rate = self._rounds.rates(
            (server["id"], client["cid"]), to, from_client, bytes_to, bytes_from
        )
        address = str(client.get("ip", ""))
        return TopRow(
            server=str(server["name"]),
            cid=int(client["cid"]),
            host=self._hosts.get(address) or f"{address}:{client.get('port', 0)}",
            name=str(client.get("name", "")),
            account=str(client.get("name_tag") or client.get("account", "")),
            subs=int(client.get("subscriptions", 0)),
            pending=int(client.get("pending_bytes", 0)),
            msgs_to=to,
            msgs_from=from_client,
            bytes_to=bytes_to,
            bytes_from=bytes_from,
            msgs_to_rate=to_rate,
            msgs_from_rate=from_rate,
            bytes_to_rate=round(bytes_to_rate),
            bytes_from_rate=round(bytes_from_rate),
            rtt=parse_span(client.get("rtt")),
            idle=parse_span(client.get("idle")),
            uptime=parse_span(client.get("uptime")),
            lang=str(client.get("lang", "")),
            version=str(client.get("version", "")),
            subjects=", ".join(map(str, client.get("subscriptions_list") or ())),
            reason=str(client.get("reason", "")),
        )

    async def _look_up(self, addresses: set[str]) -> None:
        """Look up the names of new addresses, for two seconds at most."""
        new = [address for address in addresses if address and address not in self._hosts]
        self._hosts |= dict.fromkeys(new, "")  # those without a name are not looked up again

        async def find(address: str) -> None:
            try:
                name, _ = await asyncio.get_running_loop().getnameinfo((address, 0), socket.NI_NAMEREQD)
            except OSError:
                return
            self._hosts[address] = name

        if new:
            _, pending = await asyncio.wait(
                [asyncio.ensure_future(find(address)) for address in new], timeout=2
            )
            for task in pending:
                task.cancel()


def _list_connections(connz: Sequence[Json]) -> list[tuple[Json, Json]]:
    """Return the connections, each with its server."""
    return [
        (client, reply["server"])
        for reply in connz
        for client in (reply.get("data") or {}).get("connections") or ()
    ]


_KEYS: dict[str, Callable[[TopRow], Any]] = {
    "cid": lambda row: (row.server, row.cid),
    "start": lambda row: -row.uptime,
    "subs": lambda row: -row.subs,
    "pending": lambda row: -row.pending,
    "msgs_to": lambda row: -row.msgs_to,
    "msgs_from": lambda row: -row.msgs_from,
    "bytes_to": lambda row: -row.bytes_to,
    "bytes_from": lambda row: -row.bytes_from,
    "last": lambda row: row.idle,
    "idle": lambda row: -row.idle,
    "uptime": lambda row: -row.uptime,
    "reason": lambda row: row.reason,
    "rtt": lambda row: -row.rtt,
}
