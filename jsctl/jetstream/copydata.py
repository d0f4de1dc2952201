"""Copying a stream with its messages: a snapshot of one, piped into a restore of the other.

Publishing would give new sequences and times; a snapshot keeps both, and subjects and headers byte for byte.
It is taken and given as a whole: a transfer that broke off begins again. A copy that was not compared to the
end carries a mark (`snapshot.MARK`), and is compared when it is asked for again.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field

from jsctl.errors import JsctlError, NotFound
from jsctl.jetstream import browse, snapshot, streams
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.backup_files import Told
from jsctl.jetstream.browse import Stored
from jsctl.jetstream.s2 import Frames

_AT_ONCE = 4
_RANGE = 2000
"""Messages that are compared in one go, about."""

_SHOWN = 10
_COMPARE = "compare"


@dataclass(frozen=True, slots=True)
class End:
    """A stream at a server."""

    api: Api
    stream: str


@dataclass(slots=True)
class Comparison:
    """What a comparison found.

    gone: messages that left the source after it was copied. missing, different: sequences of the first few
    messages that the copy has not, or has otherwise; `failures` counts all of them.
    """

    compared: int = 0
    gone: int = 0
    failures: int = 0
    missing: list[int] = field(default_factory=list)
    different: dict[int, str] = field(default_factory=dict)

    def record(self) -> Json:
        return {
            "compared": self.compared,
            "gone": self.gone,
            "failures": self.failures,
            "missing": sorted(self.missing),
            "different": {str(sequence): what for sequence, what in sorted(self.different.items())},
        }


async def transfer(
    source: End, target: End, config: Json, *, consumers: bool = False, told: Told | None = None
) -> tuple[Json, Json]:
    """Make the target of the source's messages; gives its info, marked as not compared, and the state of the
    source that was copied.

    told: the bytes, uncompressed. When it fails, nothing is left of the target.
    """
    await streams.check_level(target.api, config)
    async with snapshot.take(source.api, source.stream, consumers=consumers) as taken:

        async def counted() -> snapshot.Chunks:
            frames = Frames()
            async with aclosing(taken.chunks) as chunks:
                async for chunk in chunks:
                    before = frames.unpacked
                    frames.feed(chunk)
                    yield chunk
                    if told:
                        told(frames.unpacked - before)

        async with aclosing(counted()) as chunks:
            info = await snapshot.give(target.api, {**config, "name": target.stream}, taken.state, chunks)
    if snapshot.mark_of(info):
        marked = snapshot.with_mark(snapshot.without_mark(info["config"]), _COMPARE)
        info = await snapshot.put(target.api, marked)
    return info, taken.state


def is_copied(info: Json) -> bool:
    """Whether the stream was copied as a whole and not compared to the end."""
    return snapshot.mark_of(info).startswith(_COMPARE)


async def holds_nothing_else(source: End, target: End, left: Json) -> bool:
    """Whether what a broken transfer left ends with a message of the source: then nobody has published to it.

    Raises JsctlError when a transfer is still going on.
    """
    await asyncio.sleep(1)
    now = await streams.info(target.api, target.stream)
    if now["state"]["last_seq"] != left["state"]["last_seq"]:
        raise JsctlError(f"stream {target.stream} is just being restored", "wait for that to end")
    last = int(now["state"]["last_seq"])
    if not int(now["state"]["messages"]):
        return True
    try:
        return await browse.at(source.api, source.stream, last) == await browse.at(
            target.api, target.stream, last
        )
    except NotFound:
        return False


async def compare(source: End, target: End, state: Json, *, told: Told | None = None) -> Comparison:
    """Compare the messages of two streams: sequence, subject, headers, time and data.

    state: of the source when it was copied; what came to either later is left out. Read by batch direct get
    on both sides, ranges side by side; what seems to differ is asked of the leaders again, as a replica may
    lag. told: messages.
    """
    found = Comparison()
    first, last = int(state["first_seq"]), int(state["last_seq"])
    pieces = max(1, int(state["messages"]) // _RANGE)
    width = max(1, -(-(last - first + 1) // pieces))
    gate = asyncio.Semaphore(_AT_ONCE)
    bulk = [await _is_direct(end) for end in (source, target)]

    async def one(start: int) -> None:
        async with gate:
            end = min(start + width - 1, last)
            ours, theirs = (
                _range(side, start, end, direct) for side, direct in zip((source, target), bulk, strict=True)
            )
            async with aclosing(ours), aclosing(theirs):
                await _merge(source, target, ours, theirs, found, told)

    starts = range(first, last + 1, width) if int(state["messages"]) else range(0)
    tasks = [asyncio.ensure_future(one(start)) for start in starts]
    try:
        await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
    return found


async def _merge(
    source: End,
    target: End,
    ours: AsyncIterator[Stored],
    theirs: AsyncIterator[Stored],
    found: Comparison,
    told: Told | None,
) -> None:
    a, b = await anext(ours, None), await anext(theirs, None)
    while a is not None or b is not None:
        at = min(one.sequence for one in (a, b) if one is not None)
        here = a if a is not None and a.sequence == at else None
        there = b if b is not None and b.sequence == at else None
        if here != there:
            here, there = await _again(source, at), await _again(target, at)
        _judge(at, here, there, found)
        if told:
            told(1)
        if a is not None and a.sequence == at:
            a = await anext(ours, None)
        if b is not None and b.sequence == at:
            b = await anext(theirs, None)


def _judge(sequence: int, here: Stored | None, there: Stored | None, found: Comparison) -> None:
    found.compared += 1
    if here == there:
        return
    if here is None:
        found.gone += 1
        return
    found.failures += 1
    if there is None:
        if len(found.missing) < _SHOWN:
            found.missing.append(sequence)
    elif len(found.different) < _SHOWN:
        keys = ("subject", "time", "header", "data")
        what = [key for key in keys if getattr(here, key) != getattr(there, key)]
        found.different[sequence] = ", ".join(what)


async def _again(end: End, sequence: int) -> Stored | None:
    try:
        return await browse.at(end.api, end.stream, sequence)
    except NotFound:
        return None


async def _range(end: End, start: int, last: int, direct: bool) -> AsyncGenerator[Stored, None]:
    async for message in browse.read(end.api, end.stream, start=start, last=last, bulk=direct):
        if message.sequence <= last:
            yield message
        if message.sequence >= last:  # before it asks for more
            return


async def _is_direct(end: End) -> bool:
    info = await streams.info(end.api, end.stream)
    return bool(info["config"].get("allow_direct"))
