"""The ports of a network: those of its description, those of its last start, or free ones."""

import contextlib
import random
import socket
from collections.abc import Callable, Iterator, Mapping

from jsctl.localserver.topology import CLIENT, Topology

_RANGE = (24_000, 32_000)
"""Below the ports that systems give to connections (Linux: 32768 on), which would take that of a server
while it is down."""


@contextlib.contextmanager
def reserve_ports(
    topology: Topology, port: int | None, previous: Mapping[str, int], *, keep: bool = False
) -> Iterator[tuple[dict[str, int], Callable[[], None]]]:
    """Yield the ports of a network by `node.purpose`, and a function that releases those that are reserved.

    port: the client port of the first node; None for the default, 0 for free ports everywhere. previous: the
    ports of the last start, for purposes without a default. keep: use them for all, as running servers do.
    """
    ports: dict[str, int] = {}
    holders: list[socket.socket] = []

    def reserve(purpose: str, default: int) -> None:
        previous_port = previous.get(purpose, 0)
        if keep and previous_port:
            ports[purpose] = previous_port
            return
        preferred = default or previous_port
        if port == 0 or not preferred or (preferred in ports.values()):
            holder = _bind_free_port()
            holders.append(holder)
            preferred = int(holder.getsockname()[1])
        ports[purpose] = preferred

    def release() -> None:
        for holder in holders:
            holder.close()

    try:
        for number, node in enumerate(topology.nodes):
            for purpose, default in node.ports.items():
                first = number == 0 and purpose == CLIENT
                reserve(f"{node.name}.{purpose}", port if first and port else default)
        for link in topology.links:
            for hop in link.hops:
                reserve(hop, 0)
        yield ports, release
    finally:
        release()


def _bind_free_port() -> socket.socket:
    """Return a socket that holds a free port, if possible of `_RANGE`."""
    holder = socket.socket()
    for port in (*(random.randrange(*_RANGE) for _ in range(100)), 0):
        with contextlib.suppress(OSError):
            holder.bind(("127.0.0.1", port))
            break
    return holder
