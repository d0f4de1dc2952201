"""Snapshots of a stream over the wire: take one, and give one to a server (ADR-1; nats-server:
jetstream_api.go, stream_backup.go).

A server from 2.15 on makes the stream first and fills it then; when the transfer breaks off, a stream with
some of its messages stays. So a stream carries a mark in its metadata until all is there.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from jsctl.errors import ApiError, JsctlError, RequestTimeout, Unreachable
from jsctl.jetstream.api import Api, Json, parse_response
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.config import without_metadata
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from jsctl.nats.events import ConnectionEvent, Disconnected
from jsctl.nats.message import Message
from jsctl.units import HOUR, SECOND, format_rfc3339

CHUNK = 512 << 10
"""Bytes of a chunk: the server takes 1 KiB to 1 MiB, and each costs a round trip."""

MARK = "jsctl.unfinished"
"""Metadata of a stream whose restore has not ended."""

_WINDOW = 8
_PATIENCE = 30 * SECOND
_RESTORING = HOUR
"""ns that a server may take to make the stream of what it was sent."""

Chunks = AsyncGenerator[bytes, None]


class Snapshot(NamedTuple):
    """What a server is sending. `chunks` is to be read once, to its end."""

    config: Json
    state: Json
    chunks: Chunks


class _Line:
    """What came in on a subscription, and whether the connection still is the same."""

    def __init__(self, connection: Connection, limit: int) -> None:
        self._connection = connection
        self._limit = limit
        self._queue: asyncio.Queue[Message] = asyncio.Queue()
        self.handle = self._queue.put_nowait
        self._lost = False

    def watch(self, event: ConnectionEvent) -> None:
        self._lost = self._lost or isinstance(event, Disconnected)

    async def next(self, limit: int = 0) -> Message:
        """Return the next message. Raises Unreachable, RequestTimeout after `limit` ns."""
        left = limit or self._limit
        while True:
            if self._lost or not self._connection.is_connected:
                raise Unreachable(f"lost the connection to {self._connection.url} in the middle")
            try:
                return await asyncio.wait_for(self._queue.get(), 0.25)
            except TimeoutError:
                left -= SECOND // 4
            if left <= 0:
                raise RequestTimeout("the server fell silent in the middle", "--timeout waits longer")


@asynccontextmanager
async def _line(connection: Connection, inbox: str, limit: int) -> AsyncIterator[_Line]:
    line = _Line(connection, limit)
    with connection.watching(line.watch):
        async with connection.receive(inbox, line.handle):
            yield line


@asynccontextmanager
async def take(
    api: Api, stream: str, *, consumers: bool = True, check: bool = False, chunk: int = CHUNK, window: int = 0
) -> AsyncIterator[Snapshot]:
    """Have a server send a stream.

    check: the server reads every message first. chunk, window: bytes, 0 for the server's own. The next
    chunks are asked for as the last are used, so that no more than a window is ever held.
    Raises ApiError, and from the chunks JsctlError when they end early.
    """
    inbox = api.connection.new_inbox()
    body: Json = {"deliver_subject": inbox, "no_consumers": not consumers, "jsck": check, "chunk_size": chunk}
    if window:
        body["window_size"] = window
    async with _line(api.connection, inbox, max(api.timeout, _PATIENCE)) as line:
        subject = f"STREAM.SNAPSHOT.{stream}"
        reply = await api.call(subject, body, timeout=_RESTORING if check else None)
        yield Snapshot(reply["config"], reply["state"], _chunks(api.connection, line))


async def _chunks(connection: Connection, line: _Line) -> Chunks:
    while True:
        message = await line.next()
        if not message.data:
            code, why = message.status
            if code not in (0, 204):  # 408: it waited in vain for us; 500: it cannot read its store
                raise JsctlError(f"the server broke off: {why or code}")
            return
        yield message.data
        if message.reply:
            connection.post(encode_publish(message.reply, b""))


async def give(
    api: Api,
    config: Json,
    state: Json,
    chunks: Chunks,
    *,
    sent: Callable[[int], object] | None = None,
    keep: bool = False,
) -> Json:
    """Make a stream of a snapshot; gives its info, still with the mark in its metadata (see `unmark`).

    config: as the stream shall be; its name may differ from the snapshot's. sent: told the bytes of each
    chunk. When it fails, what it made is removed; with `keep` it stays, and the server ends the restore when
    it has waited 5 s for more. Raises ApiError (10130: there is such a stream; 10062: the snapshot is
    broken), JsctlError.
    """
    marked = with_mark(config)
    name = str(config["name"])
    reply = await api.call(f"STREAM.RESTORE.{name}", {"config": marked, "state": state})
    subject = str(reply["deliver_subject"])
    inbox = api.connection.new_inbox()
    limit = max(api.timeout, _PATIENCE)
    async with _line(api.connection, inbox, limit) as line:
        try:
            await _send(api.connection, subject, inbox, line, chunks, sent)
            await api.connection.send(encode_publish(subject, b"", inbox))
            while True:
                message = await line.next(_RESTORING)
                if message.data:
                    return parse_response(message.data, subject)
                _refuse(message)
        except BaseException as error:
            if not keep:
                await _take_back(api, name, marked, subject, inbox, line, error)
            raise


async def _send(
    connection: Connection,
    subject: str,
    inbox: str,
    line: _Line,
    chunks: Chunks,
    sent: Callable[[int], object] | None,
) -> None:
    """Send all chunks, `_WINDOW` ahead of what the server has taken."""
    ahead = 0
    piece = min(CHUNK, connection.max_payload)
    async for chunk in chunks:
        for at in range(0, len(chunk), piece):
            if ahead >= _WINDOW:
                await _taken(line, subject)
                ahead -= 1
            await connection.send(encode_publish(subject, chunk[at : at + piece], inbox))
            ahead += 1
        if sent:
            sent(len(chunk))
    for _ in range(ahead):
        await _taken(line, subject)


async def _taken(line: _Line, subject: str) -> None:
    message = await line.next()
    _refuse(message)
    if message.data:
        parse_response(message.data, subject)


def _refuse(message: Message) -> None:
    code, why = message.status
    if code:
        raise JsctlError(f"the server takes no more of the snapshot ({why or code})", "see its log")


async def _take_back(
    api: Api, name: str, marked: Json, subject: str, inbox: str, line: _Line, error: BaseException
) -> None:
    """Remove the stream that a failed transfer left, if it is ours. Best effort: the error matters more."""
    try:
        async with asyncio.timeout(10):
            if not isinstance(error, ApiError):
                # The server would wait 5 s for the next chunk; an end in the wrong place ends it now.
                await api.connection.send(encode_publish(subject, b"", inbox))
                for _ in range(_WINDOW + 2):
                    if (await line.next(2 * SECOND)).data:
                        break
            left = await streams.exists(api, name)
            if left is not None and mark_of(left) == mark_of({"config": marked}) != "":
                await streams.delete(api, name)
    except (JsctlError, TimeoutError):
        return


def with_mark(config: Json, step: str = "restore") -> Json:
    """The configuration with a mark of its own. A sealed stream takes none: it could not be removed."""
    if config.get("sealed"):
        return config
    now = format_rfc3339(time.time_ns())
    return {**config, "metadata": {**(config.get("metadata") or {}), MARK: f"{step} {now}"}}


def without_mark(config: Json) -> Json:
    """The configuration without a mark."""
    return without_metadata(config, lambda key: key == MARK)


def mark_of(info: Json) -> str:
    """The mark of a stream whose restore has not ended, else empty."""
    return str(((info.get("config") or {}).get("metadata") or {}).get(MARK, ""))


async def unmark(api: Api, info: Json) -> Json:
    """Take the mark off a stream; gives its info. Raises JsctlError."""
    return await put(api, without_mark(info["config"])) if mark_of(info) else info


async def put(api: Api, config: Json, *, hint: str = "jsctl stream edit removes it") -> Json:
    """Change the mark of a stream that was just made; gives its info. Raises JsctlError."""
    for left in range(4, -1, -1):
        try:
            return await streams.update(api, config)
        except (ApiError, Unreachable) as error:
            # In a cluster the new stream's leader may not be known at once.
            if not left or (isinstance(error, ApiError) and error.code not in (404, 503)):
                raise JsctlError(
                    f"stream {config['name']} is complete, but keeps {MARK} in its metadata: {error}",
                    hint,
                ) from None
            await asyncio.sleep(0.5)
    raise AssertionError("unreachable")


def losses(state: Json, restored: Json) -> list[str]:
    """How a restored stream's state differs from the snapshot's, a sentence each."""
    found = []
    for key, what in (
        ("messages", "messages"),
        ("first_seq", "first sequence"),
        ("last_seq", "last sequence"),
    ):
        least = 1 if key == "first_seq" else 0  # 0 while nothing was ever stored
        have, wanted = (max(int(one.get(key, 0)), least) for one in (restored, state))
        if have != wanted:
            found.append(f"{what}: {have:,} instead of {wanted:,}")
    return found
