"""What a purge takes: counted before it is done, so that the question can say it."""

from typing import NamedTuple

from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message import browse
from jsctl.jetstream.stream.gaps import deleted_before

SAMPLE = 1000
"""Messages that are read for their size; of more, the size is reckoned from these."""


class Loss(NamedTuple):
    """Messages and bytes that go. exact: whether the bytes were all counted."""

    messages: int
    bytes: int
    exact: bool = True


async def of_purge(api: Api, info: Json, *, subject: str = "", sequence: int = 0, keep: int = 0) -> Loss:
    """What STREAM.PURGE with these limits would take from a stream as it is now.

    sequence: those before it. keep: all but so many of the newest.
    """
    state, name = info["state"], str(info["config"]["name"])
    everything = Loss(int(state["messages"]), int(state["bytes"]))
    total = sum((await subjects(api, name, subject)).values()) if subject else everything.messages
    going = total
    if keep:
        going = max(0, total - keep)
    elif sequence:
        going = await _before(api, info, sequence, subject, total)
    if going == everything.messages:
        return everything
    size, read = 0, 0
    if going:
        messages = browse.read(
            api,
            name,
            start=int(state["first_seq"]),
            subject=subject,
            last=int(state["last_seq"]),
            bulk=bool(info["config"].get("allow_direct")) and going > 10,
        )
        async for message in messages:
            size += browse.stored_size(message, str(info["config"].get("storage", "file")))
            read += 1
            if read >= min(going, SAMPLE):
                break
    if read < going:
        size = round(size * going / read) if read else 0
    return Loss(going, size, read == going)


async def subjects(api: Api, name: str, wanted: str = ">") -> dict[str, int]:
    """Messages by subject, for those that match. The server gives 100,000 at a time."""
    found: dict[str, int] = {}
    while True:
        info = await api.call(f"STREAM.INFO.{name}", {"subjects_filter": wanted, "offset": len(found)})
        page = info["state"].get("subjects") or {}
        found.update(page)
        if not page or len(found) >= int(info.get("total", 0)):
            return found


async def _before(api: Api, info: Json, sequence: int, subject: str, total: int) -> int:
    """How many messages are before a sequence."""
    state, name = info["state"], str(info["config"]["name"])
    first, last = int(state["first_seq"]), int(state["last_seq"])
    if sequence <= first:
        return 0
    if sequence > last:
        return total
    if not subject:
        return sequence - first - await deleted_before(api, info, sequence)
    known = await browse.count_before(api, name, sequence, subject, total)
    if known is not None:
        return known
    count = 0
    async for message in browse.read(api, name, start=first, subject=subject):
        if message.sequence >= sequence:
            break
        count += 1
    return count
