"""The comparison of the messages of two streams."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from jsctl.base.loops import gather
from jsctl.errors import NotFound
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.copy_transfer import Endpoint
from jsctl.jetstream.backup.events import Advance
from jsctl.jetstream.message import browse
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.message import Message

_CONCURRENT = 4
"""Ranges that are compared at the same time."""

_RANGE_MESSAGES = 2000
"""Approximate number of messages of a range."""

_MAX_LISTED = 10
"""Maximum number of missing, and of different, sequences that a comparison lists."""

_COMPARED = {"subject": "subject", "time": "timestamp", "header": "header_block", "data": "data"}
"""What is compared: its name in results, and the attribute of a message."""


_SCHEDULE = b"\nNats-Schedule:"
"""The header of a schedule, which goes when it fires."""


@dataclass(slots=True)
class Comparison:
    """The result of a comparison.

    removed: messages that left the source after it was copied, and schedules that have fired in the copy
    since. missing, different: sequences of the first few messages that the copy lacks, or that differ in it;
    `failures` counts all of them.
    """

    compared: int = 0
    removed: int = 0
    failures: int = 0
    missing: list[int] = field(default_factory=list)
    different: dict[int, str] = field(default_factory=dict)  #: sequence -> what differs

    def add(self, sequence: int, source_message: Message | None, target_message: Message | None) -> None:
        """Add the messages that both streams have at a sequence."""
        self.compared += 1
        if source_message == target_message:
            return
        if source_message is None or (target_message is None and _SCHEDULE in source_message.header_block):
            self.removed += 1
            return
        self.failures += 1
        if target_message is None:
            if len(self.missing) < _MAX_LISTED:
                self.missing.append(sequence)
        elif len(self.different) < _MAX_LISTED:
            names = [
                key
                for key, attribute in _COMPARED.items()
                if getattr(source_message, attribute) != getattr(target_message, attribute)
            ]
            self.different[sequence] = ", ".join(names)

    def record(self) -> Json:
        """Return the result as a JSON object."""
        return {
            "compared": self.compared,
            "gone": self.removed,
            "failures": self.failures,
            "missing": sorted(self.missing),
            "different": {str(sequence): names for sequence, names in sorted(self.different.items())},
        }


async def compare_streams(
    source: Endpoint, target: Endpoint, state: Json, advance: Advance = lambda count: None
) -> Comparison:
    """Compare the messages of two streams: sequence, subject, headers, time and data.

    state: of the source when it was copied; later messages in either are ignored. Both are read by batch
    direct get, several ranges at once; messages that seem to differ are fetched from the leaders again, as a
    replica may lag. advance: called with the number of messages compared since the last call.
    """
    comparison = Comparison()
    first, last = int(state["first_seq"]), int(state["last_seq"])
    ranges = max(1, int(state["messages"]) // _RANGE_MESSAGES)
    width = max(1, -(-(last - first + 1) // ranges))
    slots = asyncio.Semaphore(_CONCURRENT)
    source_direct, target_direct = await _is_direct_allowed(source), await _is_direct_allowed(target)

    async def compare_range(start: int) -> None:
        """Walk a range of both side by side, by sequence."""
        end = min(start + width - 1, last)
        async with (
            slots,
            aclosing(_read_range(source, start, end, source_direct)) as source_messages,
            aclosing(_read_range(target, start, end, target_direct)) as target_messages,
        ):
            next_source, next_target = await anext(source_messages, None), await anext(target_messages, None)
            while present := [
                message.sequence for message in (next_source, next_target) if message is not None
            ]:
                sequence = min(present)
                source_message = target_message = None
                if next_source is not None and next_source.sequence == sequence:
                    source_message, next_source = next_source, await anext(source_messages, None)
                if next_target is not None and next_target.sequence == sequence:
                    target_message, next_target = next_target, await anext(target_messages, None)
                if source_message != target_message:
                    source_message = await _fetch(source, sequence)
                    target_message = await _fetch(target, sequence)
                comparison.add(sequence, source_message, target_message)
                advance(1)

    starts = range(first, last + 1, width) if int(state["messages"]) else range(0)
    await gather(compare_range(start) for start in starts)
    return comparison


async def _fetch(endpoint: Endpoint, sequence: int) -> Message | None:
    try:
        return await browse.fetch(endpoint.api, endpoint.stream, sequence)
    except NotFound:
        return None


def _read_range(endpoint: Endpoint, start: int, last: int, direct: bool) -> AsyncGenerator[Message, None]:
    return browse.read(endpoint.api, endpoint.stream, start=start, last=last, bulk=direct)


async def _is_direct_allowed(endpoint: Endpoint) -> bool:
    info = await streams.fetch_info(endpoint.api, endpoint.stream)
    return bool(info["config"].get("allow_direct"))
