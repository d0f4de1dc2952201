"""A server that has as many connections as it takes says so, and so does jsctl."""

import contextlib
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jsctl.contexts.settings import Settings
from jsctl.errors import Unreachable
from jsctl.nats.blocking import BlockingConnection
from tests.support.hostile import hostile_server
from tests.support.run import Cli
from tests.support.servers import RealServer, free_port

TOLD = "takes no more connections: the maximum is reached; close some, or raise max_connections"
CONFIG = """
listen: "127.0.0.1:{port}"
max_connections: 1
"""


@contextmanager
def only_connection(port: int) -> Iterator[None]:
    """Hold the one connection that the server takes, once the one that asked whether it is up is gone."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with (
            socket.create_connection(("127.0.0.1", port)) as connection,
            contextlib.suppress(ConnectionError),
        ):
            connection.sendall(b"CONNECT {}\r\nPING\r\n")
            received = b""
            while b"PONG" not in received and (data := connection.recv(4096)):
                received += data
            if b"PONG" in received:
                yield
                return
        time.sleep(0.05)
    pytest.fail("the server takes no connection")


def test_a_server_that_is_full(tmp_path: Path) -> None:
    server = RealServer(tmp_path, CONFIG).start()
    try:
        with only_connection(server.port):
            cli = Cli(tmp_path, server.url)
            away = f"nats://127.0.0.1:{free_port()}"
            for url in (server.url, f"{server.url},{away}"):
                failed = cli(f"stream ls --server {url}", status=4)
                assert TOLD in failed.err and failed.err.count("\n") == 1
            with pytest.raises(Unreachable, match="takes no more connections"):
                BlockingConnection.open(Settings(url=server.url))
    finally:
        server.stop()


def test_an_account_that_is_full(tmp_path: Path) -> None:
    with hostile_server(pong=b"-ERR 'maximum account active connections exceeded'\r\n") as url:
        failed = Cli(tmp_path, url)("stream ls", status=4)
        assert "takes no more connections of this account" in failed.err
        with pytest.raises(Unreachable, match="of this account"):
            BlockingConnection.open(Settings(url=url))
