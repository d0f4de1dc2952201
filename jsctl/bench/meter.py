"""The measurements of one client, and the totals of all."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from jsctl.base.units import SECOND
from jsctl.bench.histogram import Histogram

now = time.perf_counter_ns
"""The clock of all measurements (ns), which all processes of a machine share."""


@dataclass(slots=True)
class ClientResult:
    """The measurements of one client.

    bytes: of payloads and headers, as they were sent or received. started, ended: on the clock `now`, 0 when
    nothing was measured. complete: whether it reached its goal.
    """

    client: int
    messages: int = 0
    bytes: int = 0
    started: int = 0
    ended: int = 0
    complete: bool = False
    latencies: Histogram = field(default_factory=Histogram)

    @property
    def duration(self) -> int:
        """The measured time in ns."""
        return max(self.ended - self.started, 0)

    @property
    def rate(self) -> float:
        """Messages per second."""
        return compute_rate(self.messages, self.duration)

    @property
    def throughput(self) -> float:
        """Bytes per second."""
        return compute_rate(self.bytes, self.duration)


@dataclass(slots=True)
class ProcessResult:
    """The clients of one process. cpu: ns of processor time that it took while they worked."""

    clients: list[ClientResult]
    cpu: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def duration(self) -> int:
        """ns from its first client's first message to its last client's last."""
        started = [client.started for client in self.clients if client.started]
        return (
            max([client.ended for client in self.clients], default=0) - min(started, default=0)
            if started
            else 0
        )


@dataclass(slots=True)
class Outcome:
    """A whole benchmark. server_cpu: the share of a core that the server used, -1 if unknown. stopped:
    whether the user ended it."""

    processes: list[ProcessResult]
    server_cpu: float = -1
    stopped: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def clients(self) -> list[ClientResult]:
        """Every client, by number."""
        return sorted(
            (client for p in self.processes for client in p.clients), key=lambda client: client.client
        )

    @property
    def messages(self) -> int:
        """Messages of all clients."""
        return sum(client.messages for client in self.clients)

    @property
    def bytes(self) -> int:
        """Bytes of all clients, of payloads and headers."""
        return sum(client.bytes for client in self.clients)

    @property
    def duration(self) -> int:
        """ns from the first client's start to the last one's end."""
        worked = [client for client in self.clients if client.started]
        if not worked:
            return 0
        return max(client.ended for client in worked) - min(client.started for client in worked)

    @property
    def latencies(self) -> Histogram:
        """The latencies of all clients."""
        merged = Histogram()
        for client in self.clients:
            merged.merge(client.latencies)
        return merged

    @property
    def client_cpu(self) -> float:
        """The share of a core that the busiest client process used."""
        shares = [process.cpu / process.duration for process in self.processes if process.duration]
        return max(shares, default=0.0)


def compute_rate(amount: int, duration: int) -> float:
    """Return an amount per second; duration in ns."""
    return amount * SECOND / duration if duration > 0 else 0.0


class Meter:
    """The measurements of one client, without the warm-up.

    done: messages so far, warm-up included. result: what was measured.
    """

    __slots__ = ("_on_begin", "done", "is_measuring", "latencies", "result", "warm_up")

    def __init__(self, client: int, warm_up: int, on_begin: Callable[[], None] = lambda: None) -> None:
        self.result = ClientResult(client)
        self.latencies = self.result.latencies
        self.warm_up = warm_up
        self.done = 0
        self.is_measuring = False
        self._on_begin = on_begin

    def begin(self) -> None:
        """Begin to measure, unless there is a warm-up."""
        if not self.warm_up:
            self.begin_now()

    def begin_now(self) -> None:
        """Begin to measure, as the warm-up is over, or the first message has arrived."""
        self.is_measuring = True
        self.result.started = self.result.ended = now()
        self._on_begin()

    def add(self, count: int, size: int) -> None:
        """Record messages of `size` bytes together."""
        self.done += count
        if self.is_measuring:
            result = self.result
            result.messages += count
            result.bytes += size
            result.ended = now()
        elif self.done >= self.warm_up:
            self.begin_now()

    def add_operation(self, began: int, count: int, size: int) -> None:
        """Record an operation that began, or was due, at `began` (ns) and ends now."""
        ended = now()
        self.done += count
        if self.is_measuring:
            result = self.result
            result.messages += count
            result.bytes += size
            result.ended = ended
            self.latencies.add(ended - began)
        elif self.done >= self.warm_up:
            self.begin_now()
