"""The messages of a stream for the live report, read from its leader without a consumer, and never more than
fit on the screen and a page, by number and by bytes."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message import browse
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.report.pages import fetch_consumers
from jsctl.nats.message import Message

SEARCHED = 1000
"""Messages that a search reads at once."""
MAX_BYTES = 16 << 20
"""Bytes of payloads and headers of a page, except for the last message, which may be larger."""
_MAX_WINDOWS = 50  #: requests for ranges of sequences, most of whose messages are gone, at most


class MessageList(NamedTuple):
    """Messages, the newest first. first: the earliest sequence that was read; 0 if no earlier one is stored.
    read: how many messages were read."""

    info: Json
    messages: Sequence[Message]
    first: int
    read: int


class MessagePage(NamedTuple):
    """A message, those stored before and after it, and the stream's consumers, if they can be listed.
    info: of the stream."""

    info: Json
    message: Message
    previous: Message | None
    next: Message | None
    consumers: Sequence[Json]


class MessageReader:
    """Reads a list of messages repeatedly; those that were read before are not read again.

    before: a sequence that ends the list; 0 for the newest messages, as they arrive. takes: returns None
    for a message that is not listed; itself None if all are. With it, or with `before`, the list is read
    once.
    """

    def __init__(self, stream: str, before: int, takes: Callable[[Message], object] | None = None) -> None:
        self._stream = stream
        self._before = before
        self._takes = takes
        self._list: MessageList | None = None
        self._count = 0

    async def fetch(self, api: Api, count: int) -> MessageList:
        """Return at most `count` messages. Raises what `Api.call` raises."""
        info = await streams.fetch_info(api, self._stream)
        state, last = info["state"], self._list
        is_same = last is not None and count <= self._count and _identify(info) == _identify(last.info)
        if last is not None and is_same:
            if self._takes is not None or self._before or state == last.info["state"]:
                return last
            newest = int(last.info["state"]["last_seq"])
            first = max(newest + 1, int(state["last_seq"]) - min(count, _count_fitting(info)) + 1)
            fresh = await _read_range(api, self._stream, first, int(state["last_seq"]))
            oldest = int(state["first_seq"]) if first == newest + 1 else first
            kept = [message for message in last.messages if message.sequence >= oldest]
            messages = _select_fitting([*reversed(fresh), *kept][:count])
            earliest = messages[-1].sequence if messages else 0
            earliest = 0 if earliest <= int(state["first_seq"]) else earliest
            self._list = MessageList(info, messages, earliest, len(fresh))
        else:
            self._list = await self._read_back(api, info, count)
        self._count = max(count, self._count)
        return self._list

    async def _read_back(self, api: Api, info: Json, count: int) -> MessageList:
        """Read ranges of sequences, from the end of the list back, until there are enough messages."""
        state = info["state"]
        earliest = max(1, int(state["first_seq"]))
        high = min(int(state["last_seq"]), self._before - 1 if self._before else int(state["last_seq"]))
        found: list[Message] = []
        read, limit = 0, SEARCHED if self._takes is not None else count
        for _ in range(_MAX_WINDOWS):
            wanted = min(limit - read, 100, _count_fitting(info))
            if high < earliest or wanted <= 0 or is_full(found, count) or not state["messages"]:
                break
            low = max(earliest, high - wanted + 1)
            part = await _read_range(api, self._stream, low, high)
            read += len(part)
            for message in reversed(part):
                if self._takes is None or self._takes(message) is not None:
                    found.append(message)
                if is_full(found, count):
                    low = message.sequence
                    break
            high = low - 1
            if not part:
                previous = await fetch_previous(api, self._stream, low, earliest)
                high = previous.sequence if previous is not None else 0
        return MessageList(info, found, high + 1 if high >= earliest else 0, read)


def _select_fitting(messages: Iterable[Message]) -> list[Message]:
    """Return the first messages, as many as a page holds."""
    found: list[Message] = []
    for message in messages:
        if is_full(found):
            break
        found.append(message)
    return found


def is_full(messages: Collection[Message], count: int = 0) -> bool:
    """Return whether a page holds no more messages. count: at most so many; 0 for any number."""
    size = sum(len(message.data) + len(message.header_block) for message in messages)
    return size >= MAX_BYTES or 0 < count <= len(messages)


def _count_fitting(info: Json) -> int:
    """Return how many messages of average size a page of a stream holds, 1 or more."""
    messages, size = int(info["state"]["messages"]), int(info["state"]["bytes"])
    return max(1, MAX_BYTES * messages // max(1, size))


async def _read_range(api: Api, stream: str, low: int, high: int) -> list[Message]:
    if low > high:
        return []
    return [message async for message in browse.read(api, stream, start=low, last=high)]


async def fetch_previous(api: Api, stream: str, sequence: int, first: int) -> Message | None:
    """Fetch the last message before a sequence; None if there is none. first: the stream's first sequence.

    The leader only finds the next message: the gap is measured by doubling, then halved.
    """
    high, step = sequence, 1  # no message is in high..sequence-1
    found: Message | None = None
    while found is None:
        low = max(high - step, first)
        if low >= high:
            return None
        message = await browse.fetch_next(api, stream, low)
        found = message if message is not None and message.sequence < sequence else None
        high, step = (high if found else low), step * 2
    while found.sequence + 1 < high:
        middle = (found.sequence + 1 + high) // 2
        message = await browse.fetch_next(api, stream, middle)
        if message is not None and message.sequence < sequence:
            found = message
        else:
            high = middle
    return found


async def fetch_message_page(
    api: Api, stream: str, sequence: int, last: MessagePage | None = None
) -> MessagePage:
    """Fetch a message with what is beside it. last: its last page, whose messages are not read again while
    the stream has them. Raises NotFound, and what `Api.call` raises."""
    info, consumers = await asyncio.gather(streams.fetch_info(api, stream), fetch_consumers(api, stream))
    if last is not None and _has_messages(info, last):
        return last._replace(info=info, consumers=consumers)
    message, following = await asyncio.gather(
        browse.fetch(api, stream, sequence), browse.fetch_next(api, stream, sequence + 1)
    )
    previous = await fetch_previous(api, stream, sequence, max(1, int(info["state"]["first_seq"])))
    return MessagePage(info, message, previous, following, consumers)


def _has_messages(info: Json, page: MessagePage) -> bool:
    """Return whether a stream still has the messages of a page, and none that should be on it."""
    if _identify(info) != _identify(page.info):
        return False
    is_whole = page.next is not None or info["state"]["last_seq"] == page.info["state"]["last_seq"]
    return is_whole and int(info["state"]["first_seq"]) <= (page.previous or page.message).sequence


def _identify(info: Json) -> Mapping[str, object]:
    """Return what changes if messages between others are gone."""
    return {"created": info.get("created"), "deleted": info["state"].get("num_deleted", 0)}
