"""Gaps in a stream: sequences without a message between its first and its last one."""

from collections.abc import Callable, Iterable

from jsctl.base.loops import enter_event_loop
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message import browse
from jsctl.jetstream.state import count_deleted

Gap = tuple[int, int]  #: first and last missing sequence

MAX_DETAILS = 2_000_000
"""Maximum number of deleted messages that the server is asked to list (7 bytes each in its reply); with more,
the stream is read."""

_READERS = 8
_MIN_RANGE = 5_000  #: sequences that a reader takes


def needs_reading(info: Json) -> bool:
    """Return whether a stream has too many deleted messages for its info to list, so that it must be read."""
    return count_deleted(info["state"]) > MAX_DETAILS


async def find_gaps(api: Api, info: Json, advance: Callable[[int], None] = lambda count: None) -> list[Gap]:
    """Return the gaps in their order.

    info: the stream's. advance: called with the number of sequences that were read.
    """
    state = info["state"]
    if not count_deleted(state):
        return []
    if not needs_reading(info):
        name = info["config"]["name"]
        details = await api.call(f"STREAM.INFO.{name}", {"deleted_details": True})
        if deleted := details["state"].get("deleted"):
            return merge_sequences(deleted)
    return await _read_gaps(api, info, advance)


async def count_deleted_before(api: Api, info: Json, sequence: int) -> int:
    """Return the number of missing sequences between the first message and `sequence` (exclusive)."""
    gaps = await find_gaps(api, info)
    return sum(min(last + 1, sequence) - first for first, last in gaps if first < sequence)


def merge_sequences(sequences: Iterable[int]) -> list[Gap]:
    """Return the gaps that sequences form: (2, 4) and (9, 9) for `[2, 3, 4, 9]`."""
    return _merge((sequence, sequence) for sequence in sorted(sequences))


async def _read_gaps(api: Api, info: Json, advance: Callable[[int], None]) -> list[Gap]:
    """Read the stream in ranges, several at once."""
    first, last = int(info["state"]["first_seq"]), int(info["state"]["last_seq"])
    step = max(_MIN_RANGE, (last - first) // (4 * _READERS))
    await enter_event_loop()
    import asyncio

    slots = asyncio.Semaphore(_READERS)

    async def read_range(start: int) -> list[Gap]:
        end, gaps, expected = min(start + step - 1, last), list[Gap](), start
        async with slots:
            messages = browse.read(
                api,
                info["config"]["name"],
                start=start,
                last=end,
                bulk=bool(info["config"].get("allow_direct")),
            )
            async for message in messages:
                if message.sequence > expected:
                    gaps.append((expected, message.sequence - 1))
                expected = message.sequence + 1
            if expected <= end:
                gaps.append((expected, end))
        advance(end - start + 1)
        return gaps

    ranges = await asyncio.gather(*(read_range(start) for start in range(first, last + 1, step)))
    return _merge(gap for gaps in ranges for gap in gaps)


def _merge(gaps: Iterable[Gap]) -> list[Gap]:
    """Merge gaps that touch or overlap; return them in their order."""
    merged: list[Gap] = []
    for start, end in gaps:
        if merged and merged[-1][1] >= start - 1:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
