"""Gaps in a stream: sequences between its first and last message that hold none."""

import asyncio
from collections.abc import Callable, Iterable

from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message import browse
from jsctl.jetstream.state import deleted_messages

Gap = tuple[int, int]  #: first and last sequence that is missing

DETAILS = 2_000_000
"""Up to so many deleted messages the server is asked which they are (7 bytes each in its reply); of more,
the stream is read."""
_READERS = 8
_LEAST = 5_000  #: sequences a reader takes


def must_read(info: Json) -> bool:
    """Whether the whole stream has to be read to find its gaps."""
    return deleted_messages(info["state"]) > DETAILS


async def find(api: Api, info: Json, progress: Callable[[int], None] = lambda count: None) -> list[Gap]:
    """The gaps, in order. progress: called with the number of sequences that were gone through."""
    state = info["state"]
    if not deleted_messages(state):
        return []
    if not must_read(info):
        name = info["config"]["name"]
        known = (await api.call(f"STREAM.INFO.{name}", {"deleted_details": True}))["state"].get("deleted")
        if known:
            return runs(known)
    return await _read(api, info, progress)


async def deleted_before(api: Api, info: Json, sequence: int) -> int:
    """How many sequences from the first message up to `sequence` (exclusive) hold none."""
    found = await find(api, info)
    return sum(min(last + 1, sequence) - first for first, last in found if first < sequence)


def runs(sequences: Iterable[int]) -> list[Gap]:
    """`[2, 3, 4, 9]` is (2, 4) and (9, 9)."""
    found: list[Gap] = []
    for sequence in sorted(sequences):
        if found and found[-1][1] >= sequence - 1:
            found[-1] = (found[-1][0], sequence)
        else:
            found.append((sequence, sequence))
    return found


async def _read(api: Api, info: Json, progress: Callable[[int], None]) -> list[Gap]:
    """Read the stream in parts, side by side."""
    first, last = int(info["state"]["first_seq"]), int(info["state"]["last_seq"])
    step = max(_LEAST, (last - first) // (4 * _READERS))
    gate = asyncio.Semaphore(_READERS)

    async def part(start: int) -> list[Gap]:
        end, found, expected = min(start + step - 1, last), list[Gap](), start
        async with gate:
            messages = browse.read(
                api,
                info["config"]["name"],
                start=start,
                last=end,
                bulk=bool(info["config"].get("allow_direct")),
            )
            async for message in messages:
                sequence = min(message.sequence, end + 1)
                if sequence > expected:
                    found.append((expected, sequence - 1))
                expected = message.sequence + 1
                if expected > end:
                    break
            else:
                if expected <= end:  # deleted while we read
                    found.append((expected, end))
        progress(end - start + 1)
        return found

    parts = await asyncio.gather(*(part(start) for start in range(first, last + 1, step)))
    return _joined(gap for found in parts for gap in found)


def _joined(gaps: Iterable[Gap]) -> list[Gap]:
    found: list[Gap] = []
    for start, end in gaps:
        if found and found[-1][1] == start - 1:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found
