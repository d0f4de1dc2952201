"""Selections of the stored messages of streams, read without a consumer (`stream view`, `stream search`)."""

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from jsctl.base.loops import cancel_all, enter_event_loop, sleep
from jsctl.base.units import format_rfc3339
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.batches import BATCH
from jsctl.jetstream.message.translate import translate
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.message import Message

_PARALLEL = 4  #: streams that are read at the same time
_MAX_WAITING = 2  #: batches that nobody has taken
_FEW = 100  #: number of messages that are quickly read one by one


@dataclass(frozen=True, slots=True)
class Selection:
    """The messages of a stream to read.

    start: the first sequence. since: replaces it by a time in ns since the epoch. subject: a subject filter,
    empty for all. follow: continue with messages that are stored later. limit:
    number of messages, 0 for all; it decides how they are read. translate: the words of a command that
    translates payloads. last: the last sequence; 0 for that of the last message there is. page: messages of
    one request, at most.
    """

    start: int = 1
    since: int | None = None
    subject: str = ""
    follow: bool = False
    limit: int = 0
    translate: Sequence[str] = ()
    last: int = 0
    page: int = BATCH


async def select(
    api: Api, stream: str, selection: Selection, *, batch: int = BATCH
) -> AsyncGenerator[Sequence[Message], None]:
    """Yield messages as they come, in batches of at most `batch`.

    Raises NotFound for a missing stream, BadInput when the server cannot search by time, ApiError.
    """
    info = await streams.fetch_info(api, stream)
    reading = _read(api, info, await _find_first(api, info, selection), selection)
    words = selection.translate
    async with aclosing(reading) as batches:
        async for messages in batches:
            for at in range(0, len(messages), 1 if words else batch):
                if words:
                    message = messages[at]
                    data = await translate(words, message.data, message.subject, stream)
                    yield [message.with_data(data)]
                else:
                    yield messages[at : at + batch]


async def _find_first(api: Api, info: Json, selection: Selection) -> int:
    """Return the sequence to start at."""
    state = info["state"]
    if selection.since is None:
        return max(selection.start, int(state["first_seq"]))
    since = format_rfc3339(selection.since)
    message = await browse.fetch_since(api, info["config"]["name"], since, selection.subject)
    return message.sequence if message else int(state["last_seq"]) + 1


def _read(api: Api, info: Json, first: int, selection: Selection) -> AsyncGenerator[Sequence[Message], None]:
    name, last = info["config"]["name"], selection.last or int(info["state"]["last_seq"])
    # A page is quickly read from the leader; reading much of the stream is worth a faster way.
    is_long = not 0 < selection.limit <= _FEW
    bulk = is_long and bool(info["config"].get("allow_direct"))
    if selection.follow:
        return browse.follow(api, name, start=first, subject=selection.subject, bulk=bulk)
    return browse.read_batches(
        api, name, start=first, subject=selection.subject, last=last, bulk=bulk, batch=selection.page
    )


class _Pace:
    """A bound on messages per second, for several readers. rate: 0 for none."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._due = 0.0  #: when the next message may be read, by the monotonic clock

    async def wait(self, count: int) -> None:
        """Return when the messages that were read are within the rate. count: of them, the newest."""
        if self._rate:
            now, span = time.monotonic(), count / self._rate
            # The time that reading these took counts, so that the rate is reached.
            self._due = max(self._due or now, now - span) + span
            await sleep(max(self._due - now, 0.0))


async def select_from_several(
    api: Api, last_sequences: Mapping[str, int], selection: Selection, *, max_rate: int
) -> AsyncGenerator[Sequence[Message], None]:
    """Yield messages of several streams, a few of which are read at the same time; those of each stream in
    their order.

    last_sequences: up to which each stream is read, by its name. max_rate: messages per second that are read
    of all of them, 0 for as many as there are. Raises what `select` raises, once the others have been read.
    """
    await enter_event_loop()
    import asyncio

    found: asyncio.Queue[Sequence[Message] | None] = asyncio.Queue(_MAX_WAITING)
    waiting, pace = list(last_sequences.items()), _Pace(max_rate)
    page = max(min(BATCH, max_rate // 10), 1) if max_rate else BATCH

    async def read_streams() -> None:
        try:
            while waiting:
                name, last = waiting.pop(0)
                part = replace(selection, last=last, page=page)
                async with aclosing(select(api, name, part, batch=page)) as batches:
                    async for batch in batches:
                        await found.put(batch)
                        await pace.wait(len(batch))
        except Exception:
            await found.put(None)
            raise
        await found.put(None)  # not when it is cancelled: nobody takes it then

    readers = [asyncio.create_task(read_streams()) for _ in range(min(_PARALLEL, len(waiting)))]
    try:
        ended = 0
        while ended < len(readers):
            if batch := await found.get():
                yield batch
            else:
                ended += 1
        for reader in readers:
            await reader  # raises what it failed with
    finally:
        await cancel_all(readers)
