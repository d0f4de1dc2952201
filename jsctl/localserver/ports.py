"""The ports of a network: those of its description, those of its last start, or free ones."""

import contextlib
import socket
from collections.abc import Callable, Iterator, Mapping

from jsctl.localserver.topology import CLIENT, Topology


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
            holder = socket.socket()
            holder.bind(("127.0.0.1", 0))
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
