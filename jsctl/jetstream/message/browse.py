"""Stored messages, read without a consumer: nothing is left behind, and any stream can be read.

Pages come from the stream's leader (STREAM.MSG.GET, ADR-1). Bulk reads use batch direct get (ADR-31)
where the stream allows it; what it leaves out (a follower that lags) is asked of the leader again.
"""

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncGenerator

from jsctl.errors import ApiError, Denied, NoResponders, NotFound, RequestTimeout, Unreachable
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.nats.acks import Metadata
from jsctl.nats.codec import encode_publish
from jsctl.nats.direct_get import NO_MESSAGE, BatchDecoder, parse_direct_reply
from jsctl.nats.headers import header_value
from jsctl.nats.message import Message
from jsctl.units import SECOND

NO_MESSAGES = (10037, 10057)
_BATCH = 500
_BATCH_BYTES = 8 << 20
_PAUSE = 0.25
"""Seconds between two looks for new messages."""
_AHEAD = 32
"""Most requests at once to the leader."""


def stored_record(message: Message) -> Json:
    """Return the `message` of a STREAM.MSG.GET response."""
    record: Json = {"subject": message.subject, "seq": message.sequence}
    if message.header_block:
        record["hdrs"] = base64.b64encode(message.header_block).decode()
    if message.data:
        record["data"] = base64.b64encode(message.data).decode()
    return {**record, "time": message.timestamp}


def stored_size(message: Message, storage: str) -> int:
    """Return the bytes that a message takes in a store (nats-server: fileStoreMsgSizeRaw,
    memStoreMsgSizeRaw)."""
    size = len(message.subject.encode()) + message.size
    if storage == "memory":
        return size + 16
    return size + 30 + (4 if message.header_block else 0)


async def at(api: Api, stream: str, sequence: int) -> Message:
    """The message with this sequence. Raises NotFound."""
    found = await _get(api, stream, {"seq": sequence})
    if found is None:
        raise NotFound(f"stream {stream} has no message {sequence}", "jsctl stream info shows first and last")
    return found


async def last_for(api: Api, stream: str, subject: str) -> Message:
    """The newest message on a subject (wildcards too). Raises NotFound."""
    found = await _get(api, stream, {"last_by_subj": subject})
    if found is None:
        raise NotFound(
            f"stream {stream} has no message on {subject}", "jsctl stream subjects shows what there is"
        )
    return found


async def following(api: Api, stream: str, sequence: int, subject: str = "") -> Message | None:
    """The first message at or after a sequence (on a subject, wildcards too); None when there is none."""
    return await _get(api, stream, {"seq": max(sequence, 1), "next_by_subj": subject or ">"})


async def since(api: Api, stream: str, time: str, subject: str = "") -> Message | None:
    """The first message stored at or after a time (RFC 3339). Raises BadInput for servers before 2.11."""
    await api_levels.require(api, {ApiLevel.V2_11: ["--since"]})
    return await _get(api, stream, {"start_time": time, "next_by_subj": subject or ">"})


async def read(
    api: Api, stream: str, *, start: int = 1, subject: str = "", last: int = 0, bulk: bool = False
) -> AsyncGenerator[Message, None]:
    """Messages from a sequence on, in order, until there is no more.

    last: the stream's last sequence, as far as known; up to it messages are asked for side by side.
    bulk: read by batch direct get; only for a stream that allows direct get.
    """
    position, width = max(start, 1), 4
    if bulk:
        status = await _probe(api, stream, position, subject)
        bulk = status == 0
    while True:
        if bulk:
            batch = await _batch(api, stream, position, subject)
            for message in batch:
                yield message
            if batch:
                position = batch[-1].sequence + 1
                continue
        elif not subject and width > 1 and position < last:
            wanted = range(position, min(position + width, last + 1))
            page = await asyncio.gather(*(_get(api, stream, {"seq": n}) for n in wanted))
            found = [message for message in page if message is not None]
            for message in found:
                yield message
            position = wanted.stop
            width = min(width * 2, _AHEAD) if 2 * len(found) > len(wanted) else max(width // 2, 1)
            continue
        one = await following(api, stream, position, subject)
        if one is None:
            return
        width = min(width * 2, _AHEAD) if one.sequence == position else width
        yield one
        position = one.sequence + 1


async def follow(
    api: Api, stream: str, *, start: int, subject: str = "", bulk: bool = False
) -> AsyncGenerator[Message, None]:
    """Messages from a sequence on, those that are still to come too. A lost connection is waited for;
    raises ApiError when the stream is removed."""
    position = max(start, 1)
    while True:
        try:
            if await following(api, stream, position, subject) is None:
                await asyncio.sleep(_PAUSE)
                continue
            async for message in read(api, stream, start=position, subject=subject, bulk=bulk):
                position = message.sequence + 1
                yield message
        except Unreachable:
            await asyncio.sleep(_PAUSE)


async def count_before(api: Api, stream: str, sequence: int, subject: str, total: int) -> int | None:
    """How many of `total` messages on a subject are before a sequence, where direct get can say so."""
    status = await _probe(api, stream, sequence, subject)
    if status is None:
        return None
    if status == NO_MESSAGE:  # a follower that lags may not have it yet
        return total if await following(api, stream, sequence, subject) is None else None
    # The message's own number counts it on 2.11, and does not on later servers; the batch's end is the same.
    replies = await api.connection.request_many(
        f"{api.prefix}.DIRECT.GET.{stream}", _one(sequence, subject), expect=2, timeout=api.timeout
    )
    left = header_value(replies[-1].header_block, "Nats-Num-Pending") if len(replies) == 2 else ""
    return max(0, total - int(left) - 1) if left.isdigit() else None


async def _get(api: Api, stream: str, body: Json) -> Message | None:
    try:
        reply = await api.call(f"STREAM.MSG.GET.{stream}", body)
    except ApiError as error:
        if error.err_code in NO_MESSAGES:
            return None
        raise
    return stored_message(stream, reply["message"])


def stored_message(stream: str, record: Json) -> Message:
    """Return the message of a STREAM.MSG.GET response."""
    return Message(
        str(record["subject"]),
        base64.b64decode(record.get("data") or ""),
        "",
        base64.b64decode(record.get("hdrs") or ""),
        Metadata(stream, int(record["seq"]), str(record["time"])),
    )


async def _probe(api: Api, stream: str, sequence: int, subject: str) -> int | None:
    """Try a batch direct get of one message; returns its status, 0 for a message.

    None when there is no direct get, or no batches yet (before 2.11), or when another stream answers: a
    mirror may answer for its origin, also with messages that were deleted there.
    """
    try:
        reply = await api.connection.request(
            f"{api.prefix}.DIRECT.GET.{stream}", _one(sequence, subject), timeout=api.timeout
        )
    except (NoResponders, Denied, RequestTimeout):
        return None
    if reply.status[0] == NO_MESSAGE:
        return NO_MESSAGE
    parsed = parse_direct_reply(reply.header_block)
    is_batch = parsed is not None and parsed.stream == stream.encode() and parsed.pending is not None
    return 0 if is_batch else None


def _one(sequence: int, subject: str) -> bytes:
    """Asks for a batch of one message."""
    return json.dumps({"seq": sequence, "next_by_subj": subject or ">", "batch": 1}).encode()


async def _batch(api: Api, stream: str, sequence: int, subject: str) -> list[Message]:
    """Fetch one batch; empty where the leader has to be asked."""
    connection = api.connection
    messages: list[Message] = []
    decoder = BatchDecoder(stream)
    ended = asyncio.Event()

    def handle(reply: Message) -> None:
        message = decoder.decode(reply)
        if message is not None:
            messages.append(message)
        elif decoder.status or decoder.is_broken:
            ended.set()

    body: Json = {"seq": sequence, "next_by_subj": subject or ">", "batch": _BATCH, "max_bytes": _BATCH_BYTES}
    inbox = connection.new_inbox()
    async with connection.receive(inbox, handle):
        await connection.send(
            encode_publish(f"{api.prefix}.DIRECT.GET.{stream}", json.dumps(body).encode(), reply=inbox)
        )
        before = -1
        while not ended.is_set() and len(messages) > before:
            before = len(messages)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(api.timeout / SECOND):
                    await ended.wait()
    return messages
