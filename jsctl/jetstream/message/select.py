"""Selections of a stream's stored messages, read without a consumer (`stream view`)."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from jsctl.base.units import format_rfc3339
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.translate import translate
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.message import Message

_BATCH = 100  #: messages that are handed over at once
_FEW = 100  #: number of messages that are quickly read one by one


@dataclass(frozen=True, slots=True)
class Selection:
    """The messages of a stream to read.

    start: the first sequence. since: replaces it by a time in ns since the epoch. subject: a subject filter,
    empty for all. follow: continue with messages that are stored later. limit:
    number of messages, 0 for all; it decides how they are read. translate: the words of a command that
    translates payloads.
    """

    start: int = 1
    since: int | None = None
    subject: str = ""
    follow: bool = False
    limit: int = 0
    translate: Sequence[str] = ()


async def select(
    api: Api, stream: str, selection: Selection, *, batch: int = _BATCH
) -> AsyncGenerator[Sequence[Message], None]:
    """Yield messages in batches of at most `batch`; with follow one at a time.

    Raises NotFound for a missing stream, BadInput when the server cannot search by time, ApiError.
    """
    info = await streams.fetch_info(api, stream)
    messages = _read(api, info, await _find_first(api, info, selection), selection)
    size = 1 if selection.follow else batch
    selected: list[Message] = []
    try:
        async with aclosing(messages):
            async for message in messages:
                if selection.translate:
                    data = await translate(selection.translate, message.data, message.subject, stream)
                    selected.append(message.with_data(data))
                else:
                    selected.append(message)
                if len(selected) >= size:
                    yield selected
                    selected = []
    except JsctlError:
        if selected:
            yield selected
        raise
    if selected:
        yield selected


async def _find_first(api: Api, info: Json, selection: Selection) -> int:
    """Return the sequence to start at."""
    state = info["state"]
    if selection.since is None:
        return max(selection.start, int(state["first_seq"]))
    since = format_rfc3339(selection.since)
    message = await browse.fetch_since(api, info["config"]["name"], since, selection.subject)
    return message.sequence if message else int(state["last_seq"]) + 1


def _read(api: Api, info: Json, first: int, selection: Selection) -> AsyncGenerator[Message, None]:
    name, last = info["config"]["name"], int(info["state"]["last_seq"])
    # A page is quickly read from the leader; reading much of the stream is worth a faster way.
    is_long = not 0 < selection.limit <= _FEW
    bulk = is_long and bool(info["config"].get("allow_direct"))
    if selection.follow:
        return browse.follow(api, name, start=first, subject=selection.subject, bulk=bulk)
    return browse.read(api, name, start=first, subject=selection.subject, last=last, bulk=bulk)
