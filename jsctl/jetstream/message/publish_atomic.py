"""Publishing atomic batches (ADR-50): a stream stores all messages or none of them."""

import asyncio
from collections.abc import Sequence

from jsctl import units
from jsctl.errors import ApiError, BadInput, JsctlError, RequestTimeout
from jsctl.jetstream.api import Json
from jsctl.jetstream.message.patience import Patience, is_temporary, still_without_leader
from jsctl.jetstream.message.publish import parse_ack
from jsctl.nats.codes import ErrorCode
from jsctl.nats.connection import Connection
from jsctl.nats.headers import encode_headers, parse_headers
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.templates import unique_id

LARGEST_BATCH = 1000  #: messages of an atomic batch (ADR-50; the server's default limit)

_PAUSE = 0.25
"""Seconds before a batch is tried again."""


async def publish_atomically(
    connection: Connection, messages: Sequence[OutgoingMessage], patience: Patience | None = None
) -> Json:
    """Store all messages or none of them. patience: try again what a change of leaders broke off, which
    stored nothing, until the settings' time-out.

    Returns the ack of the batch: `{stream, seq, batch, count}`. Raises BadInput for too many messages or a
    stream that does not take batches, ApiError when the server refuses the batch, RequestTimeout.
    """
    if not messages:
        raise BadInput("there is no message to publish")
    if len(messages) > LARGEST_BATCH:
        raise BadInput(f"{len(messages):,} messages are too many: an atomic batch takes {LARGEST_BATCH:,}")
    loop, timeout = asyncio.get_running_loop(), connection.settings.timeout / units.SECOND
    deadline, subject = loop.time() + timeout, messages[0].subject
    is_known = False
    while True:
        try:
            return await _publish(connection, messages, timeout)
        except JsctlError as error:
            if patience is None or not _stored_nothing(error):
                raise
            if not is_known:
                await patience.check(subject, error)
                is_known = True
            if loop.time() > deadline:
                raise still_without_leader(subject, timeout, error) from None
            await asyncio.sleep(_PAUSE)


def _stored_nothing(error: JsctlError) -> bool:
    """Whether a batch was not stored, and another one of the same messages may be."""
    is_incomplete = (
        isinstance(error, ApiError) and error.err_code == ErrorCode.ATOMIC_PUBLISH_INCOMPLETE_BATCH
    )
    return is_incomplete or is_temporary(error)


async def _publish(connection: Connection, messages: Sequence[OutgoingMessage], timeout: float) -> Json:
    batch, last = unique_id(), len(messages)
    inbox = connection.new_inbox()
    answers: asyncio.Queue[Message] = asyncio.Queue()
    async with connection.receive(inbox, answers.put_nowait):
        for number, message in enumerate(messages, 1):
            headers = [("Nats-Batch-Id", batch), ("Nats-Batch-Sequence", str(number))]
            if number == last:
                headers.append(("Nats-Batch-Commit", "1"))
            block = encode_headers([*parse_headers(message.header_block), *headers])
            # The first answer says early whether the stream takes batches at all.
            asks = number in (1, last)
            part = message._replace(header_block=block, reply=inbox if asks else message.reply)
            connection.check_size(part)
            await connection.send(part.encode())
            if not asks:
                continue
            try:
                async with asyncio.timeout(timeout):
                    answer = await answers.get()
            except TimeoutError:
                what = "it may have been stored anyway" if number == last else "nothing was stored"
                raise RequestTimeout(f"no answer to the batch on {message.subject}", what) from None
            if number == last:
                break
            if answer.size:
                parse_ack(message.subject, answer)
                raise BadInput(
                    "the stream stored the first message by itself",
                    "it does not take atomic batches; jsctl stream edit --allow-batch",
                )
    return parse_ack(messages[-1].subject, answer)
