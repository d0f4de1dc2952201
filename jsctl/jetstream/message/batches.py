"""Batch direct gets (ADR-31) over an asyncio connection: many messages for one request, from any replica."""

import contextlib
import json
from collections.abc import Callable
from typing import NamedTuple

from jsctl.errors import Denied, JsctlError, NoResponders, RequestTimeout
from jsctl.jetstream.api import Api, Json
from jsctl.later import asyncio
from jsctl.nats.codec import encode_publish
from jsctl.nats.direct_get import END, NO_MESSAGE, TOO_MANY, BatchDecoder, parse_direct_reply
from jsctl.nats.events import ConnectionEvent, PermissionDenied
from jsctl.nats.headers import find_header
from jsctl.nats.message import Message
from jsctl.units import SECOND

BATCH = 500
"""Messages requested at once."""

_BYTES = 8 << 20  #: of messages asked for at once


class Batch(NamedTuple):
    """A batch of messages. messages: in their order. decoder: how the batch ended; its status is None when it
    did not."""

    messages: list[Message]
    decoder: BatchDecoder

    @property
    def is_supported(self) -> bool:
        """Whether direct gets of batches work for this stream, here."""
        status = self.decoder.status
        return not self.decoder.is_single and (status is None or status[0] in (END, NO_MESSAGE))


async def fetch_batch(api: Api, stream: str, sequence: int, subject: str = "", batch: int = BATCH) -> Batch:
    """Fetch the messages from a sequence on, up to `batch` of them. subject: a filter, empty for all.

    The replica that answers may lag, or lack messages; only the stream's leader has them all. Raises
    Unreachable.
    """
    return await _fetch(api, stream, {"seq": sequence, "next_by_subj": subject or ">", "batch": batch})


async def fetch_last_batch(
    api: Api, stream: str, subjects: list[str], sequence: int, batch: int = BATCH
) -> Batch:
    """Fetch the last message of each subject that a filter matches, from a sequence on, up to `batch`.

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
    messages: list[Message] = []
    ended = asyncio.Event()

    def handle(reply: Message) -> None:
        message = decoder.decode(reply)
        if message is not None:
            messages.append(message)
        elif decoder.is_ended:
            ended.set()

    inbox = connection.new_inbox()
    subject = f"{api.prefix}.DIRECT.GET.{stream}"
    with connection.watching(_on_denied(subject, decoder, ended)):
        async with connection.receive(inbox, handle):
            request = json.dumps({**body, "max_bytes": _BYTES}).encode()
            await connection.send(encode_publish(subject, request, inbox))
            before = -1
            while not ended.is_set() and len(messages) > before:
                before = len(messages)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(api.timeout / SECOND):
                        await ended.wait()
    return Batch(messages, decoder)


def _on_denied(
    subject: str, decoder: BatchDecoder, ended: "asyncio.Event"
) -> Callable[[ConnectionEvent], bool]:
    def watch(event: ConnectionEvent) -> bool:
        if not isinstance(event, PermissionDenied) or event.subject != subject:
            return False
        decoder.status = (403, event.text)
        ended.set()
        return True

    return watch


async def count_from(api: Api, stream: str, sequence: int, subject: str) -> int | None:
    """Count the messages of a subject from a sequence on, as a replica knows them.

    None when there is no direct get, or no batches yet (before 2.11), or when another stream answers: a
    mirror may answer for its origin, also with messages that were deleted there. 0 may come from a replica
    that lags.
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
    # The message's own number counts it on 2.11, and does not on later servers; the batch's end is the same.
    replies = await api.connection.request_many(request, body, expect=2, timeout=api.timeout)
    left = find_header(replies[-1].header_block, "Nats-Num-Pending") if len(replies) == 2 else ""
    return int(left) + 1 if left.isdigit() else None
