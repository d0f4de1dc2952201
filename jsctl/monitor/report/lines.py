"""The lines of the screen of `jsctl report`: streams, links, servers, accounts and problems.

Those of consumers are in `jsctl.monitor.consumer.rows`.

Plain data. Rates are per second, None if unknown; spans are ns.
"""

import re
from collections.abc import Hashable, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from jsctl.base.command_lines import Suggestion
from jsctl.base.units import NEVER, compute_age
from jsctl.jetstream.api import Json
from jsctl.monitor.counters import NO_TREND, Trend
from jsctl.monitor.report.listings import LISTED
from jsctl.monitor.report.overview import Hosting
from jsctl.monitor.server.rows import JetStreamRow, build_jetstream_row
from jsctl.monitor.stream.rows import ReplicationRow, StreamRow
from jsctl.monitor.trouble import Trouble, find_level

Kind = Literal["context", "stream", "consumer", "mirror", "source", "account", "server"]
"""What a problem is of."""

PARTS = ("streams", "consumers", "replication", "servers", "accounts", "problems", *LISTED)
"""The parts of the screen, by their number."""


class StreamLine(NamedTuple):
    """A stream. rates: stored per second, over time. growth: bytes per second. limit: ns until it is full, at
    this growth. share: how full it is, 0 to 1, None without a limit. at: when the server answered.
    event: what made its counters go back in this round."""

    row: StreamRow
    rate: float | None = None
    rates: Sequence[int] = ()
    growth: float | None = None
    limit: int | None = None
    share: float | None = None
    at: datetime | None = None
    troubles: Sequence[Trouble] = ()
    event: Literal["", "recreated", "purged", "new leader", "went back"] = ""

    @property
    def idle(self) -> int:
        """ns since its last message, -1 for none."""
        return compute_age(self.row.last_ts, self.at) if self.row.last_ts and self.at else NEVER


class LinkLine(NamedTuple):
    """A mirror or source. drain: ns until nothing is left to copy, at this pace."""

    row: ReplicationRow
    trend: Trend = NO_TREND
    drain: int | None = None
    troubles: Sequence[Trouble] = ()


class AccountLine(NamedTuple):
    """An account, or one tier of it. Limits are -1 if there is none. limit: ns until its storage is full.
    requests, errors: rates of the JetStream API; `failed` since the servers count."""

    tier: str
    streams: int
    max_streams: int
    consumers: int
    max_consumers: int
    file: int
    max_file: int
    memory: int
    max_memory: int
    failed: int
    growth: float | None = None
    limit: int | None = None
    requests: float | None = None
    errors: float | None = None
    troubles: Sequence[Trouble] = ()


class ServerLine(NamedTuple):
    """A server: `hosting` with any login; the rest only with the system account. statistics: from its answer
    to PING.STATSZ, empty without one. row: from its answer to PING.JSZ, None without one. received, sent:
    messages per second; requests, errors: rates of the JetStream API."""

    server: str
    cluster: str = ""
    version: str = ""
    hosting: Hosting | None = None
    statistics: Json = {}  # noqa: RUF012
    row: JetStreamRow | None = None
    received: float | None = None
    sent: float | None = None
    requests: float | None = None
    errors: float | None = None
    meta_leader: bool = False
    troubles: Sequence[Trouble] = ()


def build_server_line(reply: Json, use: Json) -> ServerLine:
    """Return a server as it answers PING.STATSZ and PING.JSZ, either of which may be empty, without rates."""
    server = reply.get("server") or use.get("server") or {}
    row = build_jetstream_row(use) if use.get("data") else None
    return ServerLine(
        server=str(server.get("name", "")),
        cluster=str(server.get("cluster") or ""),
        version=str(server.get("ver", "")),
        statistics=reply.get("statsz") or reply.get("data") or {},
        row=row,
        meta_leader=row is not None and row.leads,
    )


def build_account_lines(info: Json) -> list[AccountLine]:
    """Return an account as it answers $JS.API.INFO, a line for each tier, without rates and troubles."""
    failed = int((info.get("api") or {}).get("errors", 0))
    lines = []
    for tier, usage in (info.get("tiers") or {"": info}).items():
        limits = usage.get("limits") or {}
        lines.append(
            AccountLine(
                tier=tier,
                streams=int(usage.get("streams", 0)),
                max_streams=int(limits.get("max_streams", -1)),
                consumers=int(usage.get("consumers", 0)),
                max_consumers=int(limits.get("max_consumers", -1)),
                file=int(usage.get("storage", 0)),
                max_file=int(limits.get("max_storage", -1)),
                memory=int(usage.get("memory", 0)),
                max_memory=int(limits.get("max_memory", -1)),
                failed=failed,
            )
        )
    return lines


class TroubleLine(NamedTuple):
    """What is wrong with one thing. troubles: one; of a consumer all of them, the worst first. since: when it
    was first seen, in seconds since 1970. drain: ns until it is over at this pace."""

    kind: Kind
    name: tuple[str, ...]
    troubles: Sequence[Trouble]
    since: float
    drain: int | None = None

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        return ", ".join(trouble.words for trouble in self.troubles)

    @property
    def level(self) -> int:
        """WARN or BAD."""
        return find_level(self.troubles)

    @property
    def why(self) -> str:
        """A sentence for the worst trouble."""
        return self.troubles[0].says

    @property
    def help(self) -> Suggestion | None:
        """A command line for the worst trouble, if there is one."""
        return next(iter(self.troubles[0].help), None)

    @property
    def key(self) -> Hashable:
        """What identifies it in every round: its text holds numbers that change, and for a consumer all of
        its troubles.
        """
        words = re.sub(r"\b\d\S*", "", self.words)  # with their units; a name such as n2 stays
        return self.kind, self.name, words if self.kind != "consumer" else self.level
