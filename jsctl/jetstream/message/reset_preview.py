"""Where a consumer continues after a reset, and which messages come again or are skipped."""

from typing import NamedTuple

from jsctl.base.units import format_count, format_rfc3339
from jsctl.errors import BadInput
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer.config import get_filters
from jsctl.jetstream.consumer.requests import RESETTABLE
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.batches import count_from
from jsctl.jetstream.stream import requests as streams

_MAX_READ = 2000  #: sequences that are read to count messages, of a stream without direct get


class Start(NamedTuple):
    """Where to continue: at a sequence, at a time in ns since the epoch, or at the end; without any of these,
    at the acknowledgement floor."""

    sequence: int = 0
    time: int | None = None
    is_end: bool = False

    @property
    def is_floor(self) -> bool:
        """Whether it is the acknowledgement floor."""
        return not (self.sequence or self.time is not None or self.is_end)


class Preview(NamedTuple):
    """What a reset does. sequence: where the consumer continues. again: number of messages that were
    delivered and come again. skipped: number of those that were not, and never are. None for an
    unknown number. ahead: number of sequences that are not stored yet and are skipped, too."""

    sequence: int
    again: int | None
    skipped: int | None
    ahead: int = 0

    def to_json(self) -> Json:
        """Return it for scripts."""
        return {"sequence": self.sequence, "again": self.again, "skipped": self.skipped, "ahead": self.ahead}

    def __str__(self) -> str:
        """Return it for people: `40 messages come again`."""
        parts = []
        if self.again != 0:
            parts.append(f"{_count(self.again)} {'comes' if self.again == 1 else 'come'} again")
        if self.skipped != 0:
            parts.append(f"{_count(self.skipped)} {'is' if self.skipped == 1 else 'are'} skipped")
        if self.ahead:
            parts.append(f"of what is stored from now on, the first {_count(self.ahead)} will be skipped")
        return " and ".join(parts) or "no message comes again"


def _count(number: int | None) -> str:
    if number is None:
        return "an unknown number of messages"
    return f"{format_count(number)} message{'s' * (number != 1)}"


async def preview_reset(api: Api, info: Json, start: Start) -> Preview:
    """Return what a reset would do. info: the consumer's. Raises BadInput for what the server refuses (2.15:
    consumer.go resetStartingSeqLocked), and for a time, before nats-server 2.11."""
    stream = str(info["stream_name"])
    state = (await streams.fetch_info(api, stream))["state"]

    async def find_since(time: str) -> int:
        first = await browse.fetch_since(api, stream, time)
        return first.sequence if first else int(state["last_seq"]) + 1

    config, name = info["config"], f"consumer {stream} > {info['name']}"
    policy = config.get("deliver_policy")
    lowest = int(config.get("opt_start_seq") or 0) if policy == "by_start_sequence" else 0
    if policy == "by_start_time":
        lowest = await find_since(str(config["opt_start_time"]))
    sequence = start.sequence
    if start.is_end:
        sequence = int(state["last_seq"]) + 1
    elif start.time is not None:
        sequence = await find_since(format_rfc3339(start.time))
    elif start.is_floor:
        sequence = max(int(info["ack_floor"]["stream_seq"]) + 1, lowest)
    if not start.is_floor and policy not in RESETTABLE:
        raise BadInput(
            f"{name} did not start at a sequence, so it can only go back to its ack floor",
            "leave out --sequence, --time and --end",
        )
    if sequence < lowest:
        raise BadInput(
            f"{name} starts at sequence {lowest} by its configuration, so it cannot go back to {sequence}",
            f"use {lowest} or a later one",
        )
    delivered = int(info["delivered"]["stream_seq"])
    again = await _count_between(api, info, state, sequence, delivered)
    skipped = await _count_between(api, info, state, delivered + 1, sequence - 1)
    return Preview(sequence, again, skipped, max(0, sequence - 1 - int(state["last_seq"])))


async def _count_between(api: Api, info: Json, state: Json, first: int, last: int) -> int | None:
    """Return how many messages that match a consumer's filters are between two sequences; None if nobody
    tells."""
    first, last = max(first, int(state["first_seq"])), min(last, int(state["last_seq"]))
    if first > last or not state["messages"]:
        return 0
    filters, stream = get_filters(info["config"]), str(info["stream_name"])
    if not filters and not state.get("num_deleted"):
        return last - first + 1
    total = 0
    for subject in filters or [">"]:
        after, later = [await count_from(api, stream, at, subject) for at in (first, last + 1)]
        if after is not None and later is not None:
            total += after - later
        elif last - first < _MAX_READ:
            async for _ in browse.read(api, stream, start=first, last=last, subject=subject):
                total += 1
        else:
            return None
    return total
