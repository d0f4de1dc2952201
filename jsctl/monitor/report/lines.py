"""The lines of the screen of `jsctl report`: streams, consumers, links, servers, accounts and problems.

Plain data. Rates are per second, None if unknown; spans are ns.
"""

from collections.abc import Hashable, Sequence
from typing import Literal, NamedTuple

from jsctl.base.command_lines import Suggestion
from jsctl.monitor.report.counters import Trend
from jsctl.monitor.report.overview import Hosting
from jsctl.monitor.stream.rows import ReplicationRow, StreamRow
from jsctl.monitor.trouble import Trouble

Kind = Literal["context", "stream", "consumer", "mirror", "source", "account", "server"]
"""What a problem is of."""

PARTS = ("streams", "consumers", "replication", "servers", "accounts", "problems")
"""The parts of the screen, by their number."""


class StreamLine(NamedTuple):
    """A stream. rates: stored per second, over time. growth: bytes per second. limit: ns until it is full, at
    this growth. share: how full it is, 0 to 1, None without a limit. idle: ns since its last message, -1 for
    none. event: what made its counters go back in this round."""

    row: StreamRow
    rate: float | None
    rates: Sequence[int]
    growth: float | None
    limit: int | None
    share: float | None
    idle: int
    troubles: Sequence[Trouble]
    event: Literal["", "recreated", "purged", "new leader", "went back"] = ""


class LinkLine(NamedTuple):
    """A mirror or source. drain: ns until nothing is left to copy, at this pace."""

    row: ReplicationRow
    trend: Trend
    drain: int | None
    troubles: Sequence[Trouble]


class ConsumerLine(NamedTuple):
    """A consumer. delivered, acknowledged: rates. drain: ns until nothing is unprocessed, at this pace.
    last_delivery: ns since, in whole seconds, -1 for none. waiting: pulls. why: a sentence for the worst
    trouble, and help a command line for it."""

    stream: str
    consumer: str
    mode: Literal["push", "pull"]
    unprocessed: int
    trend: Trend
    drain: int | None
    ack_pending: int
    redelivered: int
    delivered: float | None
    acknowledged: float | None
    last_delivery: int
    waiting: int
    leader: str
    troubles: Sequence[Trouble]
    why: str = ""
    help: Suggestion | None = None

    @property
    def unprocessed_rate(self) -> float | None:
        """The change of its lag per second, None for a single value."""
        return self.trend.slope


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
    growth: float | None
    limit: int | None
    requests: float | None
    errors: float | None
    failed: int
    troubles: Sequence[Trouble]


class ServerLine(NamedTuple):
    """A server: `hosting` with any login; the rest, None without the system account, from its statistics.
    received, sent: messages per second."""

    server: str
    hosting: Hosting | None = None
    cluster: str = ""
    version: str = ""
    uptime: str = ""
    cpu: float | None = None
    memory: int | None = None
    connections: int | None = None
    received: float | None = None
    sent: float | None = None
    slow: int | None = None
    stored: int | None = None
    requests: float | None = None
    errors: float | None = None
    meta_leader: bool = False
    troubles: Sequence[Trouble] = ()


class Problem(NamedTuple):
    """A problem. since: when it was first seen, in seconds since 1970. parts: what it consists of, if it is
    more than one."""

    kind: Kind
    name: tuple[str, ...]
    trouble: Trouble
    since: float
    why: str = ""
    help: Suggestion | None = None
    drain: int | None = None
    parts: Sequence[Trouble] = ()

    @property
    def key(self) -> Hashable:
        """What identifies the problem in every round: its text holds numbers that change, and for a consumer
        all of its problems.
        """
        words = "".join(character for character in self.trouble.words if not character.isdigit())
        return self.kind, self.name, words if self.kind != "consumer" else self.trouble.bad
