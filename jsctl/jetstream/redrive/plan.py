"""The plan of a redrive: each message of the frozen set, with the subject that it is published on."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jsctl.errors import BadInput
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.redrive.choose import Frozen
from jsctl.jetstream.redrive.journal import Item
from jsctl.jetstream.redrive.target import Streams, Target, find_streams
from jsctl.jetstream.stream import requests as streams


class Limits(NamedTuple):
    """What ends repetitions. max_redrives: of a message. quarantine: the subject of those that were published
    again so often; empty to leave them. allow_loop: whether a target may feed the consumer."""

    max_redrives: int
    quarantine: str = ""
    allow_loop: bool = False


class RedrivePlan(NamedTuple):
    """What would be published. left: messages that were redriven too often. gone: messages that were named
    and are not in the stream any more. targets: by subject, the info of the stream that stores it."""

    items: Sequence[Item]
    bytes: int
    left: int
    gone: int
    targets: Mapping[str, Json]

    @property
    def quarantined(self) -> int:
        """Number of messages that go to quarantine."""
        return sum(item.is_quarantined for item in self.items)

    def count_subjects(self) -> Counter[str]:
        """Return how many messages go to each subject."""
        return Counter(item.subject for item in self.items)


async def plan_redrive(
    api: Api,
    known: Streams,
    target: Target,
    limits: Limits,
    frozen: Frozen,
    loop: tuple[str, Sequence[str]],
) -> RedrivePlan:
    """Plan where each message goes.

    loop: the stream, and the filters of its consumer, which no target may feed. Raises BadInput.
    """
    fresh = [one for one in frozen.messages if one.redrives < limits.max_redrives]
    worn = [one for one in frozen.messages if one.redrives >= limits.max_redrives]
    found = find_streams(known, target, {one.subject for one in fresh})
    if worn and limits.quarantine:
        found |= find_streams(known, Target(limits.quarantine), {one.subject for one in worn})
    for subject, stream in found.items():
        if not limits.allow_loop and known.feeds(stream, subject, *loop):
            raise BadInput(
                f"what is published on {subject} comes back to stream {loop[0]}, and to its consumer",
                "use another subject; --allow-loop permits it",
            )
    items = [Item(one.sequence, target.name(one.subject), one.redrives + 1) for one in fresh]
    if limits.quarantine:
        name = Target(limits.quarantine).name
        items += [Item(one.sequence, name(one.subject), one.redrives + 1, True) for one in worn]
    chosen = {item.sequence for item in items}
    infos = {name: await streams.fetch_info(api, name) for name in sorted(set(found.values()))}
    return RedrivePlan(
        sorted(items),
        sum(one.bytes for one in frozen.messages if one.sequence in chosen),
        len(frozen.messages) - len(items),
        frozen.gone,
        {subject: infos[stream] for subject, stream in found.items()},
    )
