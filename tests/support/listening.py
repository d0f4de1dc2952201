"""A port of our own that tests connect to."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


@contextmanager
def listening(listener: socket.socket, serve: Callable[[socket.socket], None]) -> Iterator[None]:
    """Serve each connection with `serve`, in a thread of its own, until the context ends."""

    def accept() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield
    finally:
        with suppress(OSError):  # it may be stopped already
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
