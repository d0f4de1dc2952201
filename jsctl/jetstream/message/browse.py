"""Stored messages, read without a consumer: nothing is left behind, and any stream can be read.

Pages come from the stream's leader (STREAM.MSG.GET, ADR-1). Bulk reads use batch direct get (ADR-31)
where the stream allows it; what it leaves out (a follower that lags) is asked of the leader again.
"""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, NamedTuple

from jsctl.errors import ApiError, Denied, NoResponders, NotFound, RequestTimeout, Unreachable
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.nats.codec import frame, status
from jsctl.units import SECOND

NO_MESSAGE = 10037
END_OF_STORE = 10057
_BATCH = 500
_BATCH_BYTES = 8 << 20
_PAUSE = 0.25
"""Seconds between two looks for new messages."""
_AHEAD = 32
"""Most requests at once to the leader."""


class Stored(NamedTuple):
    """A message in a stream.

    time: RFC 3339, as the server wrote it. header: the raw block, empty when there is none.
    """

    subject: str
    sequence: int
    time: str
    header: bytes
    data: bytes

    def record(self) -> Json:
        """The `message` of a STREAM.MSG.GET reply."""
        found: Json = {"subject": self.subject, "seq": self.sequence}
        if self.header:
            found["hdrs"] = base64.b64encode(self.header).decode()
        if self.data:
            found["data"] = base64.b64encode(self.data).decode()
        return {**found, "time": self.time}

    def size(self, storage: str) -> int:
        """Bytes that it takes in a store (nats-server: fileStoreMsgSizeRaw, memStoreMsgSizeRaw)."""
        bare = len(self.subject.encode()) + len(self.header) + len(self.data)
        if storage == "memory":
            return bare + 16
        return bare + 30 + (4 if self.header else 0)


async def at(api: Api, stream: str, sequence: int) -> Stored:
    """The message with this sequence. Raises NotFound."""
    found = await _get(api, stream, {"seq": sequence})
    if found is None:
        raise NotFound(f"stream {stream} has no message {sequence}", "jsctl stream info shows first and last")
    return found


async def last_for(api: Api, stream: str, subject: str) -> Stored:
    """The newest message on a subject (wildcards too). Raises NotFound."""
    found = await _get(api, stream, {"last_by_subj": subject})
    if found is None:
        raise NotFound(
            f"stream {stream} has no message on {subject}", "jsctl stream subjects shows what there is"
        )
    return found


async def following(api: Api, stream: str, sequence: int, subject: str = "") -> Stored | None:
    """The first message at or after a sequence (on a subject, wildcards too); None when there is none."""
    return await _get(api, stream, {"seq": max(sequence, 1), "next_by_subj": subject or ">"})


async def since(api: Api, stream: str, time: str, subject: str = "") -> Stored | None:
    """The first message stored at or after a time (RFC 3339). Raises BadInput for servers before 2.11."""
    await api_levels.require(api, {ApiLevel.V2_11: ["--since"]})
    return await _get(api, stream, {"start_time": time, "next_by_subj": subject or ">"})


async def read(
    api: Api, stream: str, *, start: int = 1, subject: str = "", last: int = 0, bulk: bool = False
) -> AsyncIterator[Stored]:
    """Messages from a sequence on, in order, until there is no more.

    last: the stream's last sequence, as far as known; up to it messages are asked for side by side.
    bulk: read by batch direct get; only for a stream that allows direct get.
    """
    position, width = max(start, 1), 4
    if bulk:
        said = await _probe(api, stream, position, subject)
        bulk = said is not None and "Status" not in said
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
) -> AsyncIterator[Stored]:
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
    said = await _probe(api, stream, sequence, subject)
    if said is None:
        return None
    if said.get("Status"):  # a follower that lags may not have it yet
        return total if await following(api, stream, sequence, subject) is None else None
    # The message's own number counts it on 2.11, and does not on later servers; the batch's end is the same.
    replies = await api.connection.request_many(
        f"{api.prefix}.DIRECT.GET.{stream}", _one(sequence, subject), expect=2, timeout=api.timeout
    )
    left = replies[-1].headers.get("Nats-Num-Pending", "") if len(replies) == 2 else ""
    return max(0, total - int(left) - 1) if left.isdigit() else None


async def _get(api: Api, stream: str, body: Json) -> Stored | None:
    try:
        reply = await api.call(f"STREAM.MSG.GET.{stream}", body)
    except ApiError as error:
        if error.err_code in (NO_MESSAGE, END_OF_STORE):
            return None
        raise
    message: Json = reply["message"]
    return Stored(
        str(message["subject"]),
        int(message["seq"]),
        str(message["time"]),
        base64.b64decode(message.get("hdrs") or ""),
        base64.b64decode(message.get("data") or ""),
    )


async def _probe(api: Api, stream: str, sequence: int, subject: str) -> Mapping[str, str] | None:
    """What a batch direct get of one message says; its `Status` when there is none.

    None when there is no direct get, or no batches yet (before 2.11), or when it speaks of another stream:
    a mirror may answer for its origin, also with messages that were deleted there.
    """
    try:
        reply = await api.connection.request(
            f"{api.prefix}.DIRECT.GET.{stream}", _one(sequence, subject), timeout=api.timeout
        )
    except (NoResponders, Denied, RequestTimeout):
        return None
    said = reply.headers
    if said.get("Status") == "404":
        return said
    batches = said.get("Nats-Stream") == stream and said.get("Nats-Num-Pending", "").isdigit()
    return said if batches else None


def _one(sequence: int, subject: str) -> bytes:
    """Asks for a batch of one message."""
    return json.dumps({"seq": sequence, "next_by_subj": subject or ">", "batch": 1}).encode()


async def _batch(api: Api, stream: str, sequence: int, subject: str) -> list[Stored]:
    """One batch; empty where the leader has to be asked."""
    connection = api.connection
    found: list[Stored] = []
    strange = False
    ended = asyncio.get_running_loop().create_future()

    def take(_subject: bytes, _reply: bytes, block: bytes, data: bytes) -> None:
        nonlocal strange
        if block[8:9] != b"\r" and status(block)[0]:  # a plain first line is by far the cheapest to tell
            if not ended.done():
                ended.set_result(None)
            return
        message = _direct(block, data, stream)
        strange = strange or message is None
        if message is not None and not strange:
            found.append(message)

    body: dict[str, Any] = {
        "seq": sequence, "next_by_subj": subject or ">", "batch": _BATCH, "max_bytes": _BATCH_BYTES,
    }  # fmt: skip
    inbox = connection.new_inbox()
    async with connection.receive(inbox, take):
        await connection.send(
            frame(f"{api.prefix}.DIRECT.GET.{stream}", json.dumps(body).encode(), reply=inbox)
        )
        before = -1
        while not ended.done() and len(found) > before:
            before = len(found)
            await asyncio.wait([ended], timeout=api.timeout / SECOND)
    return found


def _direct(block: bytes, data: bytes, stream: str) -> Stored | None:
    """A message of a direct get; None when another stream answered. What the server appends starts with
    the last `Nats-Stream`; a stored header may have that name, too."""
    cut = block.rfind(b"\r\nNats-Stream: ")
    if cut < 0:
        return None
    lines = block[cut + 2 : -4].decode(errors="replace").split("\r\n")
    said = {key: value for key, _, value in (line.partition(": ") for line in lines)}
    if said.get("Nats-Stream") != stream:
        return None
    stored = block[:cut]
    return Stored(
        said["Nats-Subject"],
        int(said["Nats-Sequence"]),
        said["Nats-Time-Stamp"],
        stored + b"\r\n\r\n" if b"\r\n" in stored else b"",
        data,
    )
