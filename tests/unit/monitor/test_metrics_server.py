"""The exporter's HTTP server, with clients that stall."""

import asyncio
import contextlib
import socket
import time

import pytest

from jsctl.monitor.exporter import http
from jsctl.monitor.exporter.http import MetricsServer
from tests.support.waiting import wait_for

LARGE = "x" * (20 << 20)
"""More than the kernel takes for a connection that nobody reads."""

REQUEST = b"GET /metrics HTTP/1.1\r\n\r\n"


async def connect(server: MetricsServer) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", server.port)


async def read_all(server: MetricsServer) -> bytes:
    reader, writer = await connect(server)
    writer.write(REQUEST)
    try:
        return await reader.read()
    finally:
        writer.close()


def stall(server: MetricsServer, request: bytes) -> socket.socket:
    """A client that sends this and then neither reads nor ends."""
    client = socket.create_connection(("127.0.0.1", server.port))
    client.sendall(request)
    return client


@pytest.mark.parametrize("request_bytes", [b"", b"GET /metr", REQUEST])
@pytest.mark.parametrize("text", ["small 1\n", LARGE])
def test_the_end_waits_for_no_client(request_bytes: bytes, text: str) -> None:
    async def work() -> float:
        async with MetricsServer(("127.0.0.1", 0), lambda: text) as server:
            client = stall(server, request_bytes)
            await asyncio.sleep(0.1)  # until the server is at it
            begin = time.monotonic()
        client.close()
        return time.monotonic() - begin

    assert asyncio.run(work()) < 2


def test_a_client_that_does_not_read_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answer would be in memory as long as it is connected."""
    monkeypatch.setattr(http, "_TIMEOUT", 1.0)

    async def work() -> None:
        async with MetricsServer(("127.0.0.1", 0), lambda: LARGE) as server:
            clients = [stall(server, REQUEST) for _ in range(5)]
            clients.append(stall(server, b""))
            await asyncio.to_thread(wait_for, lambda: len(server._answers) == len(clients), "all begin")
            await asyncio.to_thread(wait_for, lambda: not server._answers, "all end")
            for client in clients:
                assert await asyncio.to_thread(count_received, client) < len(LARGE)

    asyncio.run(work())


def count_received(client: socket.socket) -> int:
    """The number of bytes until the end of the connection, which is then closed."""
    client.settimeout(5)
    count = 0
    with client, contextlib.suppress(ConnectionResetError):
        while data := client.recv(1 << 20):
            count += len(data)
    return count


def test_others_are_answered_meanwhile() -> None:
    async def work() -> None:
        async with MetricsServer(("127.0.0.1", 0), lambda: LARGE) as server:
            clients = [stall(server, REQUEST), stall(server, b"")]
            for _ in range(2):
                answer = await asyncio.wait_for(read_all(server), 20)
                assert answer.endswith(b"\r\n\r\n" + LARGE.encode())
            for client in clients:
                client.close()

    asyncio.run(work())
