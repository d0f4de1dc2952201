"""Publishing atomic batches (ADR-50): a stream stores all messages or none of them."""

import asyncio
import contextlib
from collections.abc import Sequence

from jsctl.base import units
from jsctl.base.command_lines import build_line
from jsctl.errors import ApiError, BadInput, JsctlError, RequestTimeout
from jsctl.jetstream.api import Json
from jsctl.jetstream.message.publish import parse_ack
from jsctl.jetstream.message.retry_policy import RetryPolicy, is_temporary, leaderless_error
from jsctl.nats.connection import Connection
from jsctl.nats.error_codes import ErrorCode
from jsctl.nats.headers import encode_headers, parse_headers
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.templates import generate_id

MAX_BATCH = 1000  #: messages of an atomic batch (ADR-50; the server's default limit)

_PAUSE = 0.25
"""Seconds before a batch is tried again."""

_FIRST_SECONDS = 1.0
"""Seconds to wait for the first answer when a batch may be tried again, and twice as long each time."""

_COMMIT_SECONDS = 1.0
"""Seconds to wait for the answer to the commit before the stream is asked whether it has the batch."""


class _NotStored(RequestTimeout):
    """A batch was not answered, and is not stored: a leader that steps down does not answer."""


async def publish_atomically(
    connection: Connection, messages: Sequence[OutgoingMessage], retry: RetryPolicy | None
) -> Json:
    """Store all messages or none of them; return the ack of the batch: `{stream, seq, batch, count}`.

    retry: publish a batch again if a change of leaders interrupted it before anything was stored, until
    the settings' timeout. Raises BadInput for too many messages or a stream that does not accept batches,
    ApiError when the server refuses the batch, RequestTimeout.
    """
    if not messages:
        raise BadInput("there is no message to publish")
    if len(messages) > MAX_BATCH:
        raise BadInput(f"{len(messages):,} messages are too many: an atomic batch has at most {MAX_BATCH:,}")
    loop, timeout = asyncio.get_running_loop(), connection.settings.timeout / units.SECOND
    deadline, subject = loop.time() + timeout, messages[0].subject
    is_known, first_timeout = False, _FIRST_SECONDS
    while True:
        try:
            return await _publish(connection, messages, timeout, min(first_timeout, timeout), retry)
        except JsctlError as error:
            if retry is None or not _is_not_stored(error):
                raise
            if isinstance(error, _NotStored):
                first_timeout *= 2
            elif not is_known:
                await retry.check(subject, error)
                is_known = True
            if loop.time() > deadline:
                raise leaderless_error(subject, timeout, error) from None
            await asyncio.sleep(_PAUSE)


def _is_not_stored(error: JsctlError) -> bool:
    """Return whether a batch was not stored, so that it may be sent again."""
    is_incomplete = (
        isinstance(error, ApiError) and error.err_code == ErrorCode.ATOMIC_PUBLISH_INCOMPLETE_BATCH
    )
    return is_incomplete or isinstance(error, _NotStored) or is_temporary(error)


async def _publish(
    connection: Connection,
    messages: Sequence[OutgoingMessage],
    timeout: float,
    first_timeout: float,
    retry: RetryPolicy | None,
) -> Json:
    """Publish one batch. timeout, first_timeout: seconds to wait for the last and the first answer."""
    batch, last = generate_id(), len(messages)
    inbox = connection.new_inbox()
    answers: asyncio.Queue[Message] = asyncio.Queue()
    async with connection.receive(inbox, answers.put_nowait):
        for number, message in enumerate(messages, 1):
            headers = [("Nats-Batch-Id", batch), ("Nats-Batch-Sequence", str(number))]
            if number == last:
                headers.append(("Nats-Batch-Commit", "1"))
            block = encode_headers([*parse_headers(message.header_block), *headers])
            # The first answer shows early whether the stream accepts batches.
            wants_answer = number in (1, last)
            outgoing = message._replace(header_block=block, reply=inbox if wants_answer else message.reply)
            connection.check_size(outgoing)
            await connection.send(outgoing.encode())
            if not wants_answer:
                continue
            if number == last:
                break
            try:
                async with asyncio.timeout(first_timeout if retry else timeout):
                    answer = await answers.get()
            except TimeoutError:
                raise _NotStored(_describe_silence(message.subject), "nothing was stored") from None
            if answer.size:
                parse_ack(message.subject, answer)
                raise BadInput(
                    "the stream stored the first message by itself",
                    f"allow atomic batches: {build_line('stream edit', flags=['--allow-batch'])}",
                )
        return await _wait_for_ack(messages, batch, answers, timeout, retry)


async def _wait_for_ack(
    messages: Sequence[OutgoingMessage],
    batch: str,
    answers: "asyncio.Queue[Message]",
    timeout: float,
    retry: RetryPolicy | None,
) -> Json:
    """Return the ack of a batch whose commit was sent. A leader that steps down may store the batch or not,
    without answering; the stream keeps the batch's id with its messages."""
    subject, loop = messages[-1].subject, asyncio.get_running_loop()
    sent_at = loop.time()
    while (seconds_left := sent_at + timeout - loop.time()) > 0:
        try:
            async with asyncio.timeout(min(seconds_left, _COMMIT_SECONDS) if retry else seconds_left):
                return parse_ack(subject, await answers.get())
        except TimeoutError:
            if retry is None:
                break
        ack = await _find(retry, batch, subject, loop.time() - sent_at)
        if ack:
            return {**ack, "count": len(messages)}
        if ack is not None and answers.empty():
            raise _NotStored(_describe_silence(subject), "nothing was stored")
    raise RequestTimeout(_describe_silence(subject), "it may have been stored anyway")


async def _find(retry: RetryPolicy, batch: str, subject: str, age: float) -> Json | None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(2 * _COMMIT_SECONDS):
            return await retry.find_batch(batch, subject, int(age * units.SECOND))
    return None


def _describe_silence(subject: str) -> str:
    return f"no answer to the batch on {subject}"
