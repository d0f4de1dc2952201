"""Publishing atomic batches (ADR-50): a stream stores all messages or none of them."""

import asyncio
import contextlib
from collections.abc import Sequence

from jsctl import units
from jsctl.errors import ApiError, BadInput, JsctlError, RequestTimeout
from jsctl.jetstream.api import Json
from jsctl.jetstream.message.patience import Patience, is_temporary, leaderless_error
from jsctl.jetstream.message.publish import parse_ack
from jsctl.nats.connection import Connection
from jsctl.nats.error_codes import ErrorCode
from jsctl.nats.headers import encode_headers, parse_headers
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.templates import generate_id

LARGEST_BATCH = 1000  #: messages of an atomic batch (ADR-50; the server's default limit)

_PAUSE = 0.25
"""Seconds before a batch is tried again."""

_FIRST = 1.0
"""Seconds to wait for the first answer when a batch may be tried again, and twice as long each time."""

_COMMITTED = 1.0
"""Seconds after the commit in which its answer may come, before the stream is asked what it has."""


class _NotStored(RequestTimeout):
    """A batch was not answered, and is not stored: a leader that steps down does not answer."""


async def publish_atomically(
    connection: Connection, messages: Sequence[OutgoingMessage], patience: Patience | None = None
) -> Json:
    """Store all messages or none of them; return the ack of the batch: `{stream, seq, batch, count}`.

    patience: publish a batch again that a change of leaders interrupted before anything was stored, until the
    settings' timeout. Raises BadInput for too many messages or a stream that does not take batches, ApiError
    when the server refuses the batch, RequestTimeout.
    """
    if not messages:
        raise BadInput("there is no message to publish")
    if len(messages) > LARGEST_BATCH:
        raise BadInput(f"{len(messages):,} messages are too many: an atomic batch takes {LARGEST_BATCH:,}")
    loop, timeout = asyncio.get_running_loop(), connection.settings.timeout / units.SECOND
    deadline, subject = loop.time() + timeout, messages[0].subject
    is_known, first = False, _FIRST
    while True:
        try:
            return await _publish(connection, messages, timeout, min(first, timeout), patience)
        except JsctlError as error:
            if patience is None or not _stored_nothing(error):
                raise
            if isinstance(error, _NotStored):
                first *= 2
            elif not is_known:
                await patience.check(subject, error)
                is_known = True
            if loop.time() > deadline:
                raise leaderless_error(subject, timeout, error) from None
            await asyncio.sleep(_PAUSE)


def _stored_nothing(error: JsctlError) -> bool:
    """Return whether a batch was not stored, so that it may be sent again."""
    is_incomplete = (
        isinstance(error, ApiError) and error.err_code == ErrorCode.ATOMIC_PUBLISH_INCOMPLETE_BATCH
    )
    return is_incomplete or isinstance(error, _NotStored) or is_temporary(error)


async def _publish(
    connection: Connection,
    messages: Sequence[OutgoingMessage],
    timeout: float,
    first: float,
    patience: Patience | None,
) -> Json:
    """Publish one batch. timeout, first: seconds to wait for the last and the first answer."""
    batch, last = generate_id(), len(messages)
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
            if number == last:
                break
            try:
                async with asyncio.timeout(first if patience else timeout):
                    answer = await answers.get()
            except TimeoutError:
                raise _NotStored(_silence(message.subject), "nothing was stored") from None
            if answer.size:
                parse_ack(message.subject, answer)
                raise BadInput(
                    "the stream stored the first message by itself",
                    "allow atomic batches: jsctl stream edit --allow-batch",
                )
        return await _wait_for_ack(messages, batch, answers, timeout, patience)


async def _wait_for_ack(
    messages: Sequence[OutgoingMessage],
    batch: str,
    answers: "asyncio.Queue[Message]",
    timeout: float,
    patience: Patience | None,
) -> Json:
    """Return the ack of a batch whose commit was sent. A leader that steps down may store the batch, or not,
    and say nothing: the stream keeps its id with the messages."""
    subject, loop = messages[-1].subject, asyncio.get_running_loop()
    sent = loop.time()
    while (left := sent + timeout - loop.time()) > 0:
        try:
            async with asyncio.timeout(min(left, _COMMITTED) if patience else left):
                return parse_ack(subject, await answers.get())
        except TimeoutError:
            if patience is None:
                break
        ack = await _find(patience, batch, subject, loop.time() - sent)
        if ack:
            return {**ack, "count": len(messages)}
        if ack is not None and answers.empty():
            raise _NotStored(_silence(subject), "nothing was stored")
    raise RequestTimeout(_silence(subject), "it may have been stored anyway")


async def _find(patience: Patience, batch: str, subject: str, age: float) -> Json | None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(2 * _COMMITTED):
            return await patience.find_batch(batch, subject, int(age * units.SECOND))
    return None


def _silence(subject: str) -> str:
    return f"no answer to the batch on {subject}"
