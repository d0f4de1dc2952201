"""Removing what a redrive stored, as far as streams allow it."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from jsctl.base.loops import gather
from jsctl.errors import ApiError, MissingName
from jsctl.jetstream.api import Api, Json, is_no_message
from jsctl.jetstream.message import browse
from jsctl.jetstream.redrive.journal import Journal
from jsctl.jetstream.redrive.run import find_stored, is_of_run
from jsctl.jetstream.stream import requests as streams

_MAX_PARALLEL = 32  #: requests at the same time


class UndoPlan(NamedTuple):
    """What is removed and what cannot be.

    removable: by stream, sequences of the source and of the copy. gone: copies that their stream does not
    hold any more, as they were consumed or have expired. earlier: messages that an earlier redrive had
    stored. denied: copies in streams that deny deletes, or are sealed, by stream. infos: of the streams.
    removed: sources of the copies that an undo removed that was killed before it could note that.
    """

    removable: Mapping[str, Sequence[tuple[int, int]]]
    gone: int
    earlier: int
    denied: Mapping[str, int]
    infos: Sequence[Json]
    removed: Sequence[int] = ()

    @property
    def removals(self) -> int:
        """Number of messages to remove."""
        return sum(map(len, self.removable.values()))


async def plan_undo(api: Api, journal: Journal) -> UndoPlan:
    """Find the copies of a redrive that are still there."""
    places = {**journal.stored, **await find_stored(api, journal, journal.uncertain)}
    by_stream: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for source, place in places.items():
        if source not in journal.undone:
            by_stream[place.stream].append((source, place.sequence))
    removable, denied, infos, removed, gone, earlier = {}, {}, list[Json](), list[int](), 0, 0
    for stream, pairs in by_stream.items():
        try:
            info = await streams.fetch_info(api, stream)
        except MissingName:
            gone += len(pairs)
            continue
        sources = {copy: source for source, copy in pairs}
        # What was sent twice, as no answer came, is a duplicate of its own; its run tells whose it is.
        held = [
            (sources[copy], copy)
            async for copy, message in browse.fetch_each(api, stream, sorted(sources))
            if message is not None and is_of_run(message, journal.head["run"])
        ]
        others = {source for source, _ in pairs} - {source for source, _ in held}
        removed += others & journal.removing
        others -= journal.removing
        duplicates = sum(places[source].is_duplicate for source in others)
        earlier, gone = earlier + duplicates, gone + len(others) - duplicates
        if info["config"].get("deny_delete") or info["config"].get("sealed"):
            denied[stream] = len(held)
        elif held:
            removable[stream] = held
            infos.append(info)
    return UndoPlan(removable, gone, earlier, denied, infos, removed)


async def undo(api: Api, journal: Journal, plan: UndoPlan, advance: Callable[[int], None]) -> int:
    """Remove the copies; return how many were removed. A run that is killed goes on when it is repeated."""
    journal.note_undoing()
    journal.note("undone", plan.removed)
    removed = 0

    async def remove(stream: str, source: int, copy: int) -> None:
        nonlocal removed
        try:
            await streams.delete_message(api, stream, copy, erase=False)  # the original stays, too
            removed += 1
        except ApiError as error:
            if not is_no_message(error):  # it was gone before
                raise
        journal.note("undone", [source])
        advance(1)

    for stream, pairs in plan.removable.items():
        for at in range(0, len(pairs), _MAX_PARALLEL):
            part = pairs[at : at + _MAX_PARALLEL]
            journal.note("removing", [source for source, _ in part])
            await gather(remove(stream, *pair) for pair in part)
    return removed
