"""The plan of a benchmark, which every client in every process follows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from jsctl.base.units import SECOND

Kind = Literal[
    "pub",
    "sub",
    "service request",
    "service serve",
    "js pub sync",
    "js pub async",
    "js pub batch",
    "js pub fast",
    "js ordered",
    "js consume",
    "js fetch",
    "js get sync",
    "js get batch",
    "kv put",
    "kv get",
    "object put",
    "object get",
]

STREAM, BUCKET, OBJECTS, CONSUMER = "benchstream", "benchbucket", "benchobjects", "jsctl-bench"
"""The default names."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One benchmark.

    name: the stream or bucket. messages: of all clients together, 0 for no end. size: bytes of a payload that
    is made up. payload: what is sent. header_block: sent with each message. subjects: number of subjects to
    be used in turn, 0 for as many as there are messages, -1 for only `subject`. random: whether the next of
    them, or of the keys, is chosen at random. keys: number of keys to choose from at random, 0 for one after
    the other. sleep: ns after each operation. rate: operations per second of all clients, 0 for as fast as
    possible. duration: ns after which it ends, 0 for no limit. batch: messages ahead of their acks, or in a
    batch. max_acks: how many acks, of `batch` messages each, may be outstanding in fast ingest; 0 for two, of
    half a batch each. warm_up: messages of each client that come first and are not measured. ids: a prefix of
    message ids, empty for none. run: a unique name of this run.
    """

    kind: Kind
    subject: str = ""
    name: str = ""
    consumer: str = ""
    messages: int = 0
    clients: int = 1
    processes: int = 0
    payload: bytes = b""
    header_block: bytes = b""
    subjects: int = -1
    random: bool = False
    keys: int = 0
    sleep: int = 0
    rate: float = 0
    duration: int = 0
    warm_up: int = 0
    batch: int = 1
    max_acks: int = 0
    acks: str = "explicit"
    double_ack: bool = False
    filters: tuple[str, ...] = ()
    ids: bool = False
    run: str = ""

    @property
    def is_shared(self) -> bool:
        """Whether the clients share the messages; else each gets all of them."""
        return self.kind not in ("sub", "js ordered", "js get sync", "js get batch", "object get")

    def share(self, client: int) -> int:
        """Return how many measured messages a client, counted from 0, sends or receives; 0 for no end."""
        if not self.messages or not self.is_shared:
            return self.messages
        per_client, remainder = divmod(self.messages, self.clients)
        return per_client + (client < remainder)

    def compute_offset(self, client: int) -> int:
        """Return the number of a client's first message."""
        if not self.is_shared:
            return 0
        return sum(self.share(other) + self.warm_up for other in range(client))

    @property
    def total(self) -> int:
        """How many messages all clients send or receive, warm-up included; 0 for no end."""
        measured = self.messages if self.is_shared else self.messages * self.clients
        return measured + self.warm_up * self.clients if measured else 0

    @property
    def interval(self) -> float:
        """ns between two operations of one client; 0 for none."""
        return SECOND * self.clients / self.rate if self.rate else 0.0

    def iterate_teams(self) -> Iterator[list[int]]:
        """Yield the clients of each process."""
        for process in range(self.processes):
            yield list(range(process, self.clients, self.processes))
