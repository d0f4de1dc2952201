"""A small HTTP server for Prometheus: GET and HEAD of /metrics."""

import asyncio
import gzip
import re
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from jsctl.errors import BadInput, JsctlError
from jsctl.monitor.exporter.text import CONTENT_TYPE

if TYPE_CHECKING:
    from jsctl.monitor.exporter.web_config import WebConfig

_MAX_LINES, _MAX_LINE_BYTES = 100, 8 << 10
_TIMEOUT = 10.0  #: seconds that a request and its answer may take, until the client has it
_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))", re.ASCII)
_CHALLENGE = 'WWW-Authenticate: Basic realm="jsctl"\r\n'
_HOME_PAGE = b"<html><body><a href='/metrics'>Metrics</a></body></html>\n"


def parse_address(text: str) -> tuple[str, int]:
    """Parse `HOST:PORT`, `:PORT` for every address, or `PORT` on this machine only. Raises BadInput."""
    host, colon, port = text.rpartition(":")
    host = host.strip("[]") if colon else "127.0.0.1"
    if not port.isdecimal() or not 0 <= int(port) <= 65535:
        raise BadInput(
            f"{text!r} is not a valid address to listen on", "use HOST:PORT, such as 127.0.0.1:7777"
        )
    return host, int(port)


class MetricsServer:
    """An HTTP server for what `text` returns, as an asynchronous context manager. port: where it listens."""

    def __init__(
        self, address: tuple[str, int], text: Callable[[], str], config: "WebConfig | None" = None
    ) -> None:
        """config: who may scrape; None for everybody, by plain HTTP."""
        self._address = address
        self._config = config
        self._text = text
        self._server: asyncio.Server | None = None
        self._answers: set[asyncio.Task[None]] = set()
        self.port = address[1]

    async def __aenter__(self) -> "MetricsServer":
        host, port = self._address
        try:
            tls = self._config.tls if self._config else None
            self._server = await asyncio.start_server(
                self._answer,
                host or None,
                port,
                limit=_MAX_LINE_BYTES,
                ssl=tls.context if tls else None,
                ssl_handshake_timeout=_TIMEOUT if tls else None,
            )
        except OSError as error:
            raise JsctlError(
                f"cannot listen on {host}:{port}: {error.strerror or error}",
                "choose another address with --listen",
            ) from None
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(self, *details: object) -> None:
        if self._server is not None:
            self._server.close()
            for answer in self._answers:
                answer.cancel()
            # From Python 3.12 on this waits for the connections, which clients may keep open.
            await self._server.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if (task := asyncio.current_task()) is not None:
            self._answers.add(task)
            task.add_done_callback(self._answers.discard)
        try:
            with suppress(
                OSError, ValueError, TimeoutError, asyncio.IncompleteReadError, asyncio.CancelledError
            ):
                async with asyncio.timeout(_TIMEOUT):
                    line, headers = await _read_request(reader)
                    login = headers.get("authorization", "")
                    if self._config is None or await asyncio.to_thread(self._config.is_allowed, login):
                        is_packed = bool(_GZIP.search(headers.get("accept-encoding", "")))
                        writer.write(await self._respond(line, is_packed=is_packed))
                    else:
                        writer.write(_build_response("401 Unauthorized", b"unauthorized\n", _CHALLENGE))
                    writer.close()
                    await writer.wait_closed()
        finally:
            # A client that does not read would keep its answer in memory as long as it is connected.
            writer.transport.abort()

    async def _respond(self, line: str, *, is_packed: bool) -> bytes:
        """Return the answer to the first line of a request. is_packed: whether metrics may be compressed."""
        words = line.split()
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return _build_response("400 Bad Request", b"bad request\n")
        method, path, more = words[0], words[1].partition("?")[0], ""
        if method not in ("GET", "HEAD"):
            return _build_response("405 Method Not Allowed", b"only GET\n", "Allow: GET, HEAD\r\n")
        if path == "/metrics":
            body, kind, status = self._text().encode(), CONTENT_TYPE, "200 OK"
            if not body:
                return _build_response("503 Service Unavailable", b"the first round is not complete\n")
            if is_packed:
                body = await asyncio.to_thread(gzip.compress, body, 1)
                more = "Content-Encoding: gzip\r\n"
        elif path == "/":
            body, kind, status = _HOME_PAGE, "text/html", "200 OK"
        else:
            body, kind, status = b"not found; the metrics are at /metrics\n", "text/plain", "404 Not Found"
        response = _build_response(status, body, more, kind)
        return response[: len(response) - len(body)] if method == "HEAD" else response


async def _read_request(reader: asyncio.StreamReader) -> tuple[str, dict[str, str]]:
    """Read a request up to the end of its headers; return its first line, and its headers by lower name."""
    first = (await reader.readline()).decode("latin-1").strip()
    headers: dict[str, str] = {}
    for _ in range(_MAX_LINES):
        name, _, value = (await reader.readline()).decode("latin-1").strip().partition(":")
        if not name:
            break
        headers[name.lower()] = value.strip()
    return first, headers


def _build_response(status: str, body: bytes, more: str = "", kind: str = "text/plain") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}"
    return f"{head}Connection: close\r\n\r\n".encode() + body
