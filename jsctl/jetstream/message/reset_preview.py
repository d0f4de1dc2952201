"""Where a consumer continues after a reset, and which messages come again or are skipped."""

from typing import NamedTuple

from jsctl.base.units import format_count, format_rfc3339
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer.config import get_filters
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
    """Return what a reset would do. info: the consumer's. Raises BadInput for a time, before nats-server
    2.11."""
    stream = str(info["stream_name"])
    state = (await streams.fetch_info(api, stream))["state"]
    sequence = start.sequence
    if start.is_end:
        sequence = int(state["last_seq"]) + 1
    elif start.time is not None:
        first = await browse.fetch_since(api, stream, format_rfc3339(start.time))
        sequence = first.sequence if first else int(state["last_seq"]) + 1
    elif start.is_floor:
        sequence = int(info["ack_floor"]["stream_seq"]) + 1
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
