"""Stored messages, read without a consumer: nothing is left on the server, and any stream can be read.

Pages come from the stream's leader (STREAM.MSG.GET, ADR-1). Bulk reads use batch direct get (ADR-31)
if the stream allows it; messages missing there (a follower may lag) are requested from the leader.
"""

from binascii import a2b_base64, b2a_base64  # importing base64 takes 0.6 ms
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from jsctl.base.command_lines import build_line
from jsctl.base.loops import gather, sleep
from jsctl.base.units import format_exact_duration
from jsctl.errors import ApiError, JsctlError, MalformedAnswer, NotFound, RequestTimeout
from jsctl.jetstream.api import Api, Json, is_no_message, is_transient
from jsctl.jetstream.message.batches import BATCH, count_from, fetch_batch, fetch_last_batch
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.acks import Metadata
from jsctl.nats.direct_get import END, NO_MESSAGE
from jsctl.nats.message import Message

_MAX_FOREIGN_BATCHES = 5
"""Consecutive batches that a mirror may answer before everything is requested from the leader."""
_ATTEMPTS = 50
_PAUSE = 0.25
"""Seconds between two requests for new messages."""
_MAX_PARALLEL = 32
"""Maximum number of requests to the leader at the same time."""


def get_record(message: Message) -> Json:
    """Return the `message` of a STREAM.MSG.GET response."""
    record: Json = {"subject": message.subject, "seq": message.sequence}
    if message.header_block:
        record["hdrs"] = b2a_base64(message.header_block, newline=False).decode()
    if message.data:
        record["data"] = b2a_base64(message.data, newline=False).decode()
    return {**record, "time": message.timestamp}


def compute_stored_size(message: Message, storage: str) -> int:
    """Return how many bytes a message takes in a store (nats-server: fileStoreMsgSizeRaw,
    memStoreMsgSizeRaw). storage: "file" or "memory"."""
    size = len(message.subject.encode()) + message.size
    if storage == "memory":
        return size + 16
    return size + 30 + (4 if message.header_block else 0)


async def fetch(api: Api, stream: str, sequence: int) -> Message:
    """Fetch the message with this sequence. Raises NotFound."""
    message = await _get(api, stream, {"seq": sequence})
    if message is None:
        raise NotFound(
            f"stream {stream} has no message {sequence}",
            f"{build_line('stream info', stream)} shows first and last",
        )
    return message


async def fetch_each(
    api: Api, stream: str, sequences: Sequence[int]
) -> AsyncGenerator[tuple[int, Message | None], None]:
    """Yield the messages with these sequences in their order, each with its sequence; None for one that is
    gone. Several are requested at once."""
    for at in range(0, len(sequences), _MAX_PARALLEL):
        part = sequences[at : at + _MAX_PARALLEL]
        messages = await gather(_get(api, stream, {"seq": sequence}) for sequence in part)
        for pair in zip(part, messages, strict=True):
            yield pair


async def fetch_last(api: Api, stream: str, subject: str) -> Message:
    """Fetch the last message on a subject, which may have wildcards. Raises NotFound."""
    message = await _get(api, stream, {"last_by_subj": subject})
    if message is None:
        raise NotFound(
            f"stream {stream} has no message on {subject}",
            f"{build_line('stream subjects', stream)} shows what there is",
        )
    return message


async def fetch_next(api: Api, stream: str, sequence: int, subject: str = "") -> Message | None:
    """Fetch the first message at or after a sequence (on a subject, which may have wildcards), or None."""
    return await _get(api, stream, {"seq": max(sequence, 1), "next_by_subj": subject or ">"})


async def fetch_since(api: Api, stream: str, time: str, subject: str = "") -> Message | None:
    """Fetch the first message stored at or after a time (RFC 3339), or None. Raises BadInput for servers
    before 2.11."""
    from jsctl.jetstream import api_levels
    from jsctl.jetstream.api_levels import ApiLevel

    await api_levels.require(api, {ApiLevel.V2_11: ["--since"]})
    return await _get(api, stream, {"start_time": time, "next_by_subj": subject or ">"})


async def read(
    api: Api,
    stream: str,
    *,
    start: int = 1,
    subject: str = "",
    last: int = 0,
    bulk: bool = False,
    batch: int = BATCH,
) -> AsyncGenerator[Message, None]:
    """Yield messages in order, one at a time; see `read_batches`."""
    reading = read_batches(api, stream, start=start, subject=subject, last=last, bulk=bulk, batch=batch)
    async with aclosing(reading) as batches:
        async for messages in batches:
            for message in messages:
                yield message


async def read_batches(
    api: Api,
    stream: str,
    *,
    start: int = 1,
    subject: str = "",
    last: int = 0,
    bulk: bool = False,
    batch: int = BATCH,
) -> AsyncGenerator[Sequence[Message], None]:
    """Yield messages in order, as they come, from a sequence to the last.

    last: the sequence to end with, so that what is stored meanwhile is left out, and several messages are
    requested at once; 0 to go on to the end. bulk: read by batch direct get, up to `batch` messages per
    request; only for a stream that allows it.
    """
    position, width = max(start, 1), 4
    check = _HoleCheck(api, stream) if bulk and not subject else None
    foreign = 0
    while not last or position <= last:
        if bulk:
            count = min(batch, last - position + 1) if last else batch
            fetched = await fetch_batch(api, stream, position, subject, count)
            foreign = foreign + 1 if fetched.decoder.is_foreign else 0
            bulk = fetched.is_supported and foreign < _MAX_FOREIGN_BATCHES
            messages = await check.select_trusted(position, fetched.messages) if check else fetched.messages
            if messages:
                if 0 < last < messages[-1].sequence:
                    if within := [message for message in messages if message.sequence <= last]:
                        yield within
                    return
                yield messages
                position = _advance_past(messages[-1].sequence, position, stream)
                continue
        elif not subject and width > 1 and position < last:
            sequences = range(position, min(position + width, last + 1))
            page = await gather(_get(api, stream, {"seq": n}) for n in sequences)
            messages = [message for message in page if message is not None]
            if messages:
                yield messages
            position = sequences.stop
            width = (
                min(width * 2, _MAX_PARALLEL) if 2 * len(messages) > len(sequences) else max(width // 2, 1)
            )
            continue
        following = await fetch_next(api, stream, position, subject)
        if following is None or 0 < last < following.sequence:
            return
        width = min(width * 2, _MAX_PARALLEL) if following.sequence == position else width
        next_position = _advance_past(following.sequence, position, stream)
        yield [following]
        position = next_position


def _advance_past(sequence: int, position: int, stream: str) -> int:
    """Return the sequence after a message that answers a request from `position`.

    Raises MalformedAnswer for an earlier message: reading would repeat itself.
    """
    if sequence < position:
        reason = f"it holds message {sequence}, but {position} or a later one was requested"
        raise MalformedAnswer(f"messages of {stream}", reason)
    return sequence + 1


class _HoleCheck:
    """A check that distinguishes deleted messages from those that a replica lacks, by asking the leader."""

    def __init__(self, api: Api, stream: str) -> None:
        self._api = api
        self._stream = stream
        self._deleted = 0  #: number of deleted messages that may still lie ahead

    async def select_trusted(self, position: int, messages: list[Message]) -> list[Message]:
        """Return the messages of a batch requested from `position`, up to where some may be missing."""
        if not messages:
            return messages
        missing = messages[-1].sequence - position + 1 - len(messages)
        if messages[0].sequence > position:
            leader_message = await fetch_next(self._api, self._stream, position)
            if leader_message is not None and leader_message.sequence < messages[0].sequence:
                return [leader_message]
            missing -= messages[0].sequence - position
        if missing > self._deleted:
            self._deleted = int(
                (await streams.fetch_info(self._api, self._stream))["state"].get("num_deleted", 0)
            )
        if missing > self._deleted:
            first = messages[0].sequence
            return [message for at, message in enumerate(messages) if message.sequence == first + at]
        self._deleted -= missing
        return messages


async def read_last(
    api: Api, stream: str, subjects: list[str], batch: int
) -> AsyncGenerator[list[Message], None]:
    """Yield the last message of each subject that a filter matches, by direct gets, in pages.

    A replica that lags takes older messages for the last ones; reading from the last message on then leaves
    nothing out. Raises NotFound without direct get, JsctlError when a mirror keeps answering in the stream's
    place, or for too many subjects.
    """
    position, attempts = 1, 0
    while True:
        fetched = await fetch_last_batch(api, stream, subjects, position, batch)
        decoder = fetched.decoder
        if fetched.messages:
            yield fetched.messages
            position, attempts = _advance_past(decoder.last, position, stream), 0
        if not decoder.is_broken:
            if not fetched.is_supported:
                raise NotFound(
                    f"nobody answers direct gets of stream {stream}",
                    "check that the stream allows direct get",
                )
            code = decoder.status[0] if decoder.status else 0
            if code == END and not decoder.pending:
                return
            if code == NO_MESSAGE and not await _has_any(api, stream, subjects, position):
                return
            if not code and not fetched.messages and attempts:
                raise RequestTimeout(
                    f"nothing came from stream {stream} for {format_exact_duration(2 * api.timeout)}",
                    "--timeout waits longer",
                )
        attempts += 1
        if attempts > _ATTEMPTS:
            raise JsctlError(f"stream {stream} itself does not answer direct gets", "leave out --direct")
        if attempts > 1:
            await sleep(_PAUSE / 10)


async def _has_any(api: Api, stream: str, subjects: list[str], sequence: int) -> bool:
    """Return whether the stream's leader has a message on one of the subjects, at or after a sequence."""
    messages = await gather(fetch_next(api, stream, sequence, subject) for subject in subjects)
    return any(message is not None for message in messages)


async def follow(
    api: Api, stream: str, *, start: int, subject: str = "", bulk: bool = False
) -> AsyncGenerator[Sequence[Message], None]:
    """Yield messages beginning at a sequence, as they come, and then those that are stored later.

    Waits for a lost connection to return. Raises ApiError when the stream is deleted.
    """
    position = max(start, 1)
    while True:
        try:
            if await fetch_next(api, stream, position, subject) is None:
                await sleep(_PAUSE)
                continue
            reading = read_batches(api, stream, start=position, subject=subject, bulk=bulk)
            async with aclosing(reading) as batches:
                async for messages in batches:
                    position = messages[-1].sequence + 1
                    yield messages
        except JsctlError as error:
            if not is_transient(error):
                raise
            await sleep(_PAUSE)


async def count_before(api: Api, stream: str, sequence: int, subject: str, total: int) -> int | None:
    """Return how many of `total` messages on a subject are before a sequence; None when direct gets cannot
    answer that."""
    count = await count_from(api, stream, sequence, subject)
    if count == 0 and await fetch_next(api, stream, sequence, subject) is not None:
        return None  # a follower that lags
    return None if count is None else max(0, total - count)


async def _get(api: Api, stream: str, body: Json) -> Message | None:
    try:
        reply = await api.call(f"STREAM.MSG.GET.{stream}", body)
    except ApiError as error:
        if is_no_message(error):
            return None
        raise
    return parse_stored_message(stream, reply["message"])


def parse_stored_message(stream: str, record: Json) -> Message:
    """Return the message of a STREAM.MSG.GET response."""
    return Message(
        str(record["subject"]),
        a2b_base64(record.get("data") or ""),
        "",
        a2b_base64(record.get("hdrs") or ""),
        Metadata(stream, int(record["seq"]), str(record["time"])),
    )
