"""Servers, accounts and JetStream from round to round, with rates. No I/O."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
Counts = tuple[int, int, int, int]
"""Messages sent and received, bytes sent and received."""


@dataclass(slots=True)
class Traffic:
    """The messages and bytes sent and received since the start; rates are messages per second since the round
    before."""

    sent_messages: int = 0
    sent_bytes: int = 0
    received_messages: int = 0
    received_bytes: int = 0
    sent_rate: float = 0.0
    received_rate: float = 0.0


@dataclass(slots=True)
class ServerRow:
    """A server. cpu: percent of one core. The uptime is left out, as it would change in every round."""

    server: str
    cluster: str
    connections: int
    subscriptions: int
    slow_consumers: int
    mem: int
    cpu: float
    cores: int
    routes: int
    gateways: int
    traffic: Traffic


@dataclass(slots=True)
class AccountRow:
    """An account: sums over the servers that know it. servers: how many know it."""

    account: str
    name: str
    servers: int = 0
    connections: int = 0
    leafnodes: int = 0
    subscriptions: int = 0
    slow_consumers: int = 0
    traffic: Traffic = field(default_factory=Traffic)


@dataclass(slots=True)
class JetStreamRow:
    """JetStream of a server. snapshot: when the meta group was saved last, RFC 3339; of its leader only.

    api_rate: requests per second since the round before. pending, requests, infos: what the meta group waits
    for. snapshot_duration: ns.
    """

    server: str
    cluster: str
    leads: bool
    ha_assets: int
    memory: int
    file: int
    api: int
    api_rate: float
    api_errors: int
    pending: int
    pending_requests: int
    pending_infos: int
    snapshot: str
    snapshot_duration: int


class Rounds:
    """Counters from round to round.

    A counter that went back belongs to a restarted server; its rate in that round is 0. clock: seconds, from
    any start.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._previous: dict[object, Sequence[int]] = {}
        self._current: dict[object, Sequence[int]] = {}
        self._began: float | None = None
        self._span = 0.0

    def begin(self) -> None:
        """Begin a round."""
        now = self._clock()
        self._span = now - self._began if self._began is not None else 0.0
        self._began = now
        self._previous, self._current = self._current, {}

    def rates(self, key: object, *counters: int) -> list[float]:
        """Return the rates per second of counters since the round before; 0 in the first one."""
        self._current[key] = counters
        previous = self._previous.get(key)
        if previous is None or self._span <= 0:
            return [0.0] * len(counters)
        return [max(0, now - then) / self._span for now, then in zip(counters, previous, strict=True)]


def build_server_rows(replies: Sequence[Json], rounds: Rounds) -> list[ServerRow]:
    """Return the servers in answers to STATSZ."""
    rounds.begin()
    rows = []
    for reply in replies:
        server, stats = reply.get("server") or {}, reply.get("statsz") or {}
        rows.append(
            ServerRow(
                server=str(server.get("name", "")),
                cluster=str(server.get("cluster") or ""),
                connections=int(stats.get("connections", 0)),
                subscriptions=int(stats.get("subscriptions", 0)),
                slow_consumers=int(stats.get("slow_consumers", 0)),
                mem=int(stats.get("mem", 0)),
                cpu=float(stats.get("cpu", 0)),
                cores=int(stats.get("cores", 0)),
                # Pooled routes to a server count once.
                routes=len({route.get("name") or route.get("rid") for route in stats.get("routes") or ()}),
                gateways=len(stats.get("gateways") or ()),
                traffic=_build_traffic([stats], rounds, server.get("id")),
            )
        )
    return rows


def build_account_rows(replies: Sequence[Json], rounds: Rounds) -> list[AccountRow]:
    """Return the accounts in answers to $SYS.REQ.ACCOUNT.PING.STATZ, without those that nobody uses."""
    rounds.begin()
    accounts: dict[str, list[Json]] = {}
    for reply in replies:
        for part in (reply.get("data") or {}).get("account_statz") or ():
            accounts.setdefault(str(part.get("acc", "")), []).append(part)
    rows = []
    for account, parts in accounts.items():
        row = AccountRow(account, str(parts[0].get("name") or account), len(parts))
        for part in parts:
            row.connections += int(part.get("conns", 0))
            row.leafnodes += int(part.get("leafnodes", 0))
            row.subscriptions += int(part.get("num_subscriptions", 0))
            row.slow_consumers += int(part.get("slow_consumers", 0))
        row.traffic = _build_traffic(parts, rounds, account)
        rows.append(row)
    return rows


def build_jetstream_rows(replies: Sequence[Json], rounds: Rounds) -> list[JetStreamRow]:
    """Return JetStream of the servers in answers to STATSZ; those without it are left out."""
    rounds.begin()
    rows = []
    for reply in replies:
        server = reply.get("server") or {}
        jetstream = (reply.get("statsz") or {}).get("jetstream")
        if not jetstream:
            continue
        stats, meta = jetstream.get("stats") or {}, jetstream.get("meta") or {}
        api = stats.get("api") or {}
        leads = bool(meta) and meta.get("leader") == server.get("name")
        snapshot = (meta.get("snapshot") or {}) if leads else {}
        when = str(snapshot.get("last_time") or "")
        rows.append(
            JetStreamRow(
                server=str(server.get("name", "")),
                cluster=str(server.get("cluster") or ""),
                leads=leads,
                ha_assets=int(stats.get("ha_assets", 0)),
                memory=int(stats.get("memory", 0)),
                file=int(stats.get("storage", 0)),
                api=int(api.get("total", 0)),
                api_rate=rounds.rates(server.get("id"), int(api.get("total", 0)))[0],
                api_errors=int(api.get("errors", 0)),
                pending=int(meta.get("pending", 0)),
                pending_requests=int(meta.get("pending_requests", 0)),
                pending_infos=int(meta.get("pending_infos", 0)),
                snapshot="" if when.startswith("0001-") else when,
                snapshot_duration=int(snapshot.get("last_duration", 0)),
            )
        )
    return rows


def _build_traffic(parts: Sequence[Json], rounds: Rounds, key: object) -> Traffic:
    def total(direction: str, unit: str) -> int:
        return sum(int((part.get(direction) or {}).get(unit, 0)) for part in parts)

    sent, received = total("sent", "msgs"), total("received", "msgs")
    rates = rounds.rates(key, sent, received)
    return Traffic(sent, total("sent", "bytes"), received, total("received", "bytes"), *rates)
