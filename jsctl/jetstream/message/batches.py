"""Batch direct gets (ADR-31) over an asyncio connection: many messages for one request, from any replica."""

import contextlib
import json
from typing import NamedTuple

from jsctl.base.loops import enter_event_loop
from jsctl.base.units import SECOND
from jsctl.errors import Denied, JsctlError, NoResponders, RequestTimeout
from jsctl.jetstream.api import Api, Json
from jsctl.nats.codec import encode_publish
from jsctl.nats.direct_get import END, NO_MESSAGE, TOO_MANY, BatchDecoder, parse_direct_reply
from jsctl.nats.events import ConnectionEvent, Disconnected, PermissionDenied
from jsctl.nats.headers import find_header
from jsctl.nats.message import Message

BATCH = 2000
"""Messages requested at once."""

_BYTES = 8 << 20  #: of messages requested at once


class Batch(NamedTuple):
    """A batch. decoder: its messages, and how it ended; its status is None if it did not."""

    decoder: BatchDecoder

    @property
    def messages(self) -> list[Message]:
        """The messages, in their order."""
        return self.decoder.messages

    @property
    def is_supported(self) -> bool:
        """Whether the server and the stream support direct gets of batches."""
        status = self.decoder.status
        return not self.decoder.is_single and (status is None or status[0] in (END, NO_MESSAGE))


async def fetch_batch(api: Api, stream: str, sequence: int, subject: str, batch: int) -> Batch:
    """Fetch up to `batch` messages, beginning at a sequence. subject: a filter, empty for all.

    The replica that answers may lag or lack messages; only the stream's leader has them all. Raises
    Unreachable.
    """
    return await _fetch(api, stream, {"seq": sequence, "next_by_subj": subject or ">", "batch": batch})


async def fetch_last_batch(api: Api, stream: str, subjects: list[str], sequence: int, batch: int) -> Batch:
    """Fetch up to `batch` last messages of the subjects that a filter matches, beginning at a sequence.

    Raises JsctlError for too many subjects, Unreachable.
    """
    body: Json = {"multi_last": subjects, "batch": batch}
    if sequence > 1:
        body["seq"] = sequence
    fetched = await _fetch(api, stream, body)
    code, description = fetched.decoder.status or (0, "")
    if code == TOO_MANY:
        raise JsctlError(f"the server refuses the request: {description}", "name fewer subjects")
    return fetched


async def _fetch(api: Api, stream: str, body: Json) -> Batch:
    connection, decoder = api.connection, BatchDecoder(stream)
    await enter_event_loop()
    import asyncio

    messages, has_ended = decoder.messages, asyncio.Event()

    def handle(reply: Message) -> None:
        decoder.decode(reply)
        if decoder.is_ended:
            has_ended.set()

    def watch(event: ConnectionEvent) -> bool:
        if isinstance(event, Disconnected):
            has_ended.set()  # the rest does not come
        if not isinstance(event, PermissionDenied) or event.subject != subject:
            return False
        decoder.status = (403, event.text)
        has_ended.set()
        return True

    inbox = connection.new_inbox()
    subject = f"{api.prefix}.DIRECT.GET.{stream}"
    with connection.watching(watch):
        async with connection.receive(inbox, handle, bulk=decoder):
            request = json.dumps({**body, "max_bytes": _BYTES}).encode()
            await connection.send(encode_publish(subject, request, inbox))
            count_before = -1
            while not has_ended.is_set() and len(messages) > count_before:
                count_before = len(messages)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(api.timeout / SECOND):
                        await has_ended.wait()
    return Batch(decoder)


async def count_from(api: Api, stream: str, sequence: int, subject: str) -> int | None:
    """Count the messages of a subject beginning at a sequence, as a replica knows them.

    None without direct get, without batches (before 2.11), or when another stream answers: a mirror may
    answer for its origin, and still have messages that were deleted there. A replica that lags may answer 0.
    """
    body = json.dumps({"seq": sequence, "next_by_subj": subject or ">", "batch": 1}).encode()
    request = f"{api.prefix}.DIRECT.GET.{stream}"
    try:
        first = await api.connection.request(request, body, timeout=api.timeout)
    except (NoResponders, Denied, RequestTimeout):
        return None
    if first.status[0] == NO_MESSAGE:
        return 0
    parsed = parse_direct_reply(first.header_block)
    if parsed is None or parsed.stream != stream.encode() or parsed.pending is None:
        return None
    # On 2.11 the message's own number includes it, on later servers it does not; the batch's end is the same.
    from jsctl.nats.replies import request_many

    replies = await request_many(api.connection, request, body, expect=2, timeout=api.timeout)
    pending = find_header(replies[-1].header_block, "Nats-Num-Pending") if len(replies) == 2 else ""
    return int(pending) + 1 if pending.isdigit() else None
