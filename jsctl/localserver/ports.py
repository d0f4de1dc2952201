"""The ports of a network: those that its description asks for, those of its last start, free ones."""

import contextlib
import socket
from collections.abc import Callable, Iterator, Mapping

from jsctl.localserver.topology import CLIENT, Topology


@contextlib.contextmanager
def reserve_ports(
    topology: Topology, port: int | None, before: Mapping[str, int], *, keep: bool = False
) -> Iterator[tuple[dict[str, int], Callable[[], None]]]:
    """Yield the ports of a network by `node.purpose`, and a function that releases those that are reserved.

    port: the client port of the first node; None for the default, 0 for free ports everywhere. before: the
    ports of the last start, for what has no default. keep: for everything, as servers run that have them.
    """
    ports: dict[str, int] = {}
    held: list[socket.socket] = []

    def take(purpose: str, default: int) -> None:
        known = before.get(purpose, 0)
        if keep and known:
            ports[purpose] = known
            return
        preferred = default or known
        if port == 0 or not preferred or (preferred in ports.values()):
            holder = socket.socket()
            holder.bind(("127.0.0.1", 0))
            held.append(holder)
            preferred = int(holder.getsockname()[1])
        ports[purpose] = preferred

    def release() -> None:
        for holder in held:
            holder.close()

    try:
        for number, node in enumerate(topology.nodes):
            for purpose, default in node.ports.items():
                first = number == 0 and purpose == CLIENT
                take(f"{node.name}.{purpose}", port if first and port else default)
        for link in topology.links:
            for hop in link.hops:
                take(hop, 0)
        yield ports, release
    finally:
        release()
