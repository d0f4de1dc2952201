"""The lag of the partitions of a consumer group."""

from typing import NamedTuple

from jsctl.base.loops import gather
from jsctl.jetstream.api import Api
from jsctl.jetstream.message.batches import count_from
from jsctl.jetstream.partitioned_groups import Group, fetch_consumers

_AT_ONCE = 64  #: partitions whose lag is asked for at once


class PartitionLag(NamedTuple):
    """A partition. member: None if none reads it. pending: the messages that were not delivered to its
    member yet; None if that is not known.
    """

    partition: int
    member: str | None
    pending: int | None


async def fetch_lag(api: Api, group: Group) -> list[PartitionLag]:
    """Return the lag of each partition: what is on its subjects after the last message that its member's
    consumer delivered. Where there is no consumer, an elastic group's queue waits as a whole; where the
    consumer of a static member will begin is its own affair. None without direct get, or before nats-server
    2.11.
    """
    infos, owners = await fetch_consumers(api, group), group.owners

    async def count(number: int) -> PartitionLag:
        member = owners.get(number)
        info = infos.get(member or "")
        if info is None and group.kind == "static":
            return PartitionLag(number, member, None)
        start = int(info["delivered"]["stream_seq"]) + 1 if info else 1
        subjects = [f"{number}.{subject}" for subject in group.subjects]
        counts = [await count_from(api, group.queue, start, subject) for subject in subjects]
        known = [each for each in counts if each is not None]
        return PartitionLag(number, member, sum(known) if len(known) == len(counts) else None)

    numbers = range(int(group.config["max_members"]))
    rows: list[PartitionLag] = []
    for at in numbers[::_AT_ONCE]:
        rows += await gather(map(count, numbers[at : at + _AT_ONCE]))
    return rows
