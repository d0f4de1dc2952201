"""Snapshots of a stream over the wire: request one, and restore one on a server (ADR-1; nats-server:
jetstream_api.go, stream_backup.go)."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from jsctl.base.units import HOUR, SECOND
from jsctl.errors import ApiError, JsctlError, RequestTimeout, Unreachable
from jsctl.jetstream.api import Api, Json, parse_response
from jsctl.jetstream.backup.copying import leave_out_copying
from jsctl.jetstream.backup.events import Advance
from jsctl.jetstream.backup.marks import add_mark
from jsctl.jetstream.state import get_mark
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from jsctl.nats.events import ConnectionEvent, Disconnected
from jsctl.nats.message import Message

CHUNK_SIZE = 512 << 10
"""Bytes of a chunk: the server accepts 1 KiB to 1 MiB, and each chunk costs a round trip."""

_WINDOW = 8
"""Chunks that are sent ahead of the server's acknowledgements."""

_MIN_TIMEOUT = 30 * SECOND
"""Minimum time to wait for the server's next message, in ns."""

_POLL_SECONDS = 0.25
"""Interval at which a receiver checks whether the connection is lost."""

_RESTORE_TIMEOUT = HOUR
"""Time to wait until a server has created a stream from a snapshot, or checked one, in ns."""

_CLEANUP_SECONDS = 10

Chunks = AsyncGenerator[bytes, None]


class Snapshot(NamedTuple):
    """A snapshot that a server is sending. `chunks` can be read once, to its end."""

    config: Json
    state: Json
    chunks: Chunks


class _Receiver:
    """The messages that arrive on an inbox, until the connection is lost."""

    def __init__(self, connection: Connection, timeout: int) -> None:
        self.inbox = connection.new_inbox()
        self._connection = connection
        self._timeout = timeout
        self._queue: asyncio.Queue[Message] = asyncio.Queue()
        self.handle = self._queue.put_nowait
        self._lost = False

    def watch(self, event: ConnectionEvent) -> None:
        self._lost = self._lost or isinstance(event, Disconnected)

    async def next(self, timeout: int = 0) -> Message:
        """Return the next message. Raises Unreachable, RequestTimeout after `timeout` ns."""
        remaining = timeout or self._timeout
        while True:
            if self._lost or not self._connection.is_connected:
                raise Unreachable(
                    f"lost the connection to {self._connection.url} during the transfer",
                    "repeat the line once the server answers",
                )
            try:
                async with asyncio.timeout(_POLL_SECONDS):
                    return await self._queue.get()
            except TimeoutError:
                remaining -= int(_POLL_SECONDS * SECOND)
            if remaining <= 0:
                raise RequestTimeout(
                    "the server stopped answering during the transfer", "--timeout waits longer"
                )


@asynccontextmanager
async def _receiving(api: Api) -> AsyncIterator[_Receiver]:
    receiver = _Receiver(api.connection, max(api.timeout, _MIN_TIMEOUT))
    with api.connection.watching(receiver.watch):
        async with api.connection.receive(receiver.inbox, receiver.handle):
            yield receiver


@asynccontextmanager
async def request_snapshot(
    api: Api,
    stream: str,
    *,
    consumers: bool,
    check: bool = False,
    chunk_size: int = CHUNK_SIZE,
    window_size: int = 0,
) -> AsyncIterator[Snapshot]:
    """Request a stream's snapshot, and yield it while the server sends it.

    Args:
        consumers: include its consumers and their state.
        check: let the server read every message first.
        chunk_size: bytes of a chunk.
        window_size: bytes that may be on their way; 0 or less for the server's default. The server sends more
            chunks as the previous ones are consumed, so that memory never holds more than this.

    Raises ApiError; reading the chunks raises JsctlError when they end early.
    """
    async with _receiving(api) as receiver:
        body: Json = {
            "deliver_subject": receiver.inbox,
            "no_consumers": not consumers,
            "jsck": check,
            "chunk_size": chunk_size,
        }
        if window_size > 0:
            body["window_size"] = window_size
        subject = f"STREAM.SNAPSHOT.{stream}"
        reply = await api.call(subject, body, timeout=_RESTORE_TIMEOUT if check else None)
        yield Snapshot(reply["config"], reply["state"], _receive_chunks(api.connection, receiver))


async def _receive_chunks(connection: Connection, receiver: _Receiver) -> Chunks:
    while True:
        message = await receiver.next()
        if not message.data:
            code, reason = message.status
            if code not in (0, 204):  # 408: no acknowledgement reached it; 500: it cannot read its store
                raise JsctlError(f"the server ended the snapshot early: {reason or code}")
            return
        yield message.data
        if message.reply:
            connection.post(encode_publish(message.reply, b""))


async def restore_snapshot(
    api: Api,
    config: Json,
    state: Json,
    chunks: Chunks,
    *,
    advance: Advance = lambda size: None,
    keep_partial: bool = False,
    keep_copying: bool = False,
) -> Json:
    """Create a stream from a snapshot; return its info, still with the mark (see `marks`).

    Args:
        config: the configuration of the new stream; its name may differ from the snapshot's.
        state: the snapshot's, as STREAM.INFO has it.
        advance: called with the bytes of each chunk that was sent.
        keep_partial: keep what was transferred when it fails; the server ends the restore after waiting 5 s
            for more. Otherwise nothing is left.
        keep_copying: keep the consumers with which servers copy to other streams (see `copying`).

    Raises ApiError (STREAM_NAME_EXIST_RESTORE_FAILED; STREAM_RESTORE for a broken snapshot), JsctlError.
    """
    marked = add_mark(config)
    reply = await api.call(f"STREAM.RESTORE.{config['name']}", {"config": marked, "state": state})
    subject = str(reply["deliver_subject"])
    async with _receiving(api) as receiver:
        try:
            sent = chunks if keep_copying else leave_out_copying(chunks)
            await _send(api.connection, subject, receiver, sent, advance)
            await api.connection.send(encode_publish(subject, b"", receiver.inbox))
            while True:
                message = await receiver.next(_RESTORE_TIMEOUT)
                if message.data:
                    return parse_response(message.data, subject)
                _raise_refusal(message)
        except BaseException as error:
            if not keep_partial:
                await _remove_partial(api, marked, subject, receiver, error)
            raise


async def _send(
    connection: Connection, subject: str, receiver: _Receiver, chunks: Chunks, advance: Advance
) -> None:
    """Send all chunks, up to `_WINDOW` ahead of the server's acknowledgements."""
    unacknowledged = 0
    size = min(CHUNK_SIZE, connection.max_payload)
    async for chunk in chunks:
        for at in range(0, len(chunk), size):
            if unacknowledged >= _WINDOW:
                await _wait_for_ack(receiver, subject)
                unacknowledged -= 1
            await connection.send(encode_publish(subject, chunk[at : at + size], receiver.inbox))
            unacknowledged += 1
        advance(len(chunk))
    for _ in range(unacknowledged):
        await _wait_for_ack(receiver, subject)


async def _wait_for_ack(receiver: _Receiver, subject: str) -> None:
    message = await receiver.next()
    _raise_refusal(message)
    if message.data:
        parse_response(message.data, subject)


def _raise_refusal(message: Message) -> None:
    code, reason = message.status
    if code:
        raise JsctlError(f"the server refuses the rest of the snapshot ({reason or code})", "see its log")


async def _remove_partial(
    api: Api, marked: Json, subject: str, receiver: _Receiver, error: BaseException
) -> None:
    """Remove the stream that a failed transfer left, if its mark is ours. Failures are ignored, as the
    transfer's own error matters more."""
    try:
        async with asyncio.timeout(_CLEANUP_SECONDS):
            if not isinstance(error, ApiError):
                # The server would wait 5 s for the next chunk; an early end makes it stop at once.
                await api.connection.send(encode_publish(subject, b"", receiver.inbox))
                for _ in range(_WINDOW + 2):
                    if (await receiver.next(2 * SECOND)).data:
                        break
            info = await streams.fetch_info_or_none(api, str(marked["name"]))
            if info is not None and get_mark(info) == get_mark({"config": marked}) != "":
                await streams.delete(api, str(marked["name"]))
    except (JsctlError, TimeoutError):
        return


def compare_states(expected: Json, restored: Json) -> list[str]:
    """Return how a restored stream's state differs from the snapshot's, a phrase each."""
    differences = []
    for key, label in (
        ("messages", "messages"),
        ("first_seq", "first sequence"),
        ("last_seq", "last sequence"),
    ):
        minimum = 1 if key == "first_seq" else 0  # 0 while nothing has been stored
        actual, required = (max(int(state.get(key, 0)), minimum) for state in (restored, expected))
        if actual != required:
            differences.append(f"{label}: {actual:,} instead of {required:,}")
    return differences
