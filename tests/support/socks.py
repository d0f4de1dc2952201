"""A SOCKS5 proxy for tests (RFC 1928, RFC 1929): CONNECT by name or IPv4 address."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.listening import listening


class Proxy:
    """A proxy, with the connections that went through."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.targets: list[str] = []


@contextmanager
def socks5(user: str = "", password: str = "") -> Iterator[Proxy]:
    """Run a proxy on a free port of 127.0.0.1; with `user`, it requires that login."""
    listener = socket.create_server(("127.0.0.1", 0))
    proxy = Proxy(int(listener.getsockname()[1]))
    with listening(listener, lambda client: _serve(client, proxy, user, password)):
        yield proxy


def _serve(client: socket.socket, proxy: Proxy, user: str, password: str) -> None:
    with client:
        data = client.makefile("rb")
        _, count = data.read(2)
        data.read(count)
        client.sendall(b"\x05\x02" if user else b"\x05\x00")
        if user:
            data.read(1)
            name = data.read(data.read(1)[0])
            secret = data.read(data.read(1)[0])
            if (name, secret) != (user.encode(), password.encode()):
                client.sendall(b"\x01\x01")
                return
            client.sendall(b"\x01\x00")
        kind = data.read(4)[3]
        host = data.read(data.read(1)[0]).decode() if kind == 3 else socket.inet_ntoa(data.read(4))
        port = int.from_bytes(data.read(2), "big")
        proxy.targets.append(f"{host}:{port}")
        try:
            server = socket.create_connection((host, port), timeout=5)
        except OSError:
            client.sendall(b"\x05\x05\x00\x01" + bytes(6))
            return
        server.settimeout(None)
        client.sendall(b"\x05\x00\x00\x01" + bytes(6))
        with server:
            threading.Thread(target=_pump, args=(server, client), daemon=True).start()
            _pump(client, server)


def _pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while chunk := source.recv(65536):
            target.sendall(chunk)
        target.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
