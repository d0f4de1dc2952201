"""A slow line to a server: what went each way is counted, and it can be cut."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tests.support.listening import listening

_PIECE = 1 << 16


class Relay:
    """Connections to `url` end at the server.

    up, down: bytes to and from the server. rate: bytes a second upwards, 0 for as fast as it goes. open: not
    set while it holds everything back. then: what to do once so many bytes have gone up, in this order.
    """

    def __init__(self, listener: socket.socket, rate: int) -> None:
        self._listener = listener
        self.port = int(listener.getsockname()[1])
        self.rate = rate
        self.up = 0
        self.down = 0
        self.open = threading.Event()
        self.open.set()
        self.then: list[tuple[int, Callable[[], object]]] = []
        self._loses_next = False
        self._open: list[socket.socket] = []

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def url_for(self, user: str) -> str:
        return f"nats://{user}:{user}@127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Break all connections."""
        self.open.set()
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def cut_at_answer(self) -> None:
        """Break all connections in place of passing on what comes next from the server."""
        self._loses_next = True

    def stop(self) -> None:
        """Stop accepting connections."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def serve(self, client: socket.socket, target: int) -> None:
        """Relay one connection to a port."""
        with (
            client,
            suppress(ConnectionRefusedError),
            socket.create_connection(("127.0.0.1", target)) as server,
        ):
            # What waits in buffers has been sent as far as a test can see: few of it.
            for one in (client, server):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _PIECE)
            self._open += [client, server]
            threading.Thread(target=self._pump, args=(server, client, False), daemon=True).start()
            self._pump(client, server, True)

    def _pump(self, source: socket.socket, target: socket.socket, up: bool) -> None:
        with suppress(OSError):
            while self.open.wait() and (data := source.recv(_PIECE)):
                if self._loses_next and not up:
                    self._loses_next = False
                    self.cut()
                    break
                target.sendall(data)
                if up:
                    self.up += len(data)
                    while self.then and self.up >= self.then[0][0]:
                        self.then.pop(0)[1]()
                    if self.rate:
                        time.sleep(len(data) / self.rate)
                else:
                    self.down += len(data)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


@contextmanager
def relay(target: int, rate: int = 0, port: int = 0) -> Iterator[Relay]:
    """Run a relay to the server at the port `target`, on 127.0.0.1 and the port `port`, or a free one."""
    listener = socket.create_server(("127.0.0.1", port))
    relay = Relay(listener, rate)
    with listening(listener, lambda client: relay.serve(client, target)):
        try:
            yield relay
        finally:
            relay.stop()
            relay.cut()
