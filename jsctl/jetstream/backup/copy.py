"""Copying a stream with its messages: a snapshot of one, piped into a restore of the other.

Publishing would give new sequences and times; a snapshot keeps both, and subjects and headers byte for byte.
A transfer that broke off leaves the first messages, and `copyrest` brings the others. A copy that was not
compared to the end carries a mark (`snapshot.MARK`), and is compared when it is asked for again.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import NamedTuple

from jsctl.errors import ApiError, JsctlError, NotFound
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api, Json, hint
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.jetstream.backup import snapshot
from jsctl.jetstream.backup.files import Told
from jsctl.jetstream.backup.s2 import Frames
from jsctl.jetstream.message import browse
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.message import Message

_AT_ONCE = 4
_RANGE = 2000
"""Messages that are compared in one go, about."""

_SHOWN = 10
_COMPARE = "compare"

ORIGIN = "jsctl.origin"
"""Metadata of a copy whose messages are not all there: what it is a copy of."""

SEALS = ("sealed", "deny_delete", "deny_purge")
_AIMED = ("sources", "republish", "subject_transform")
_LATER = frozenset(
    (*SEALS, *_AIMED, "subjects", "first_seq", "max_age", "max_msgs", "max_msgs_per_subject", "discard",
     "discard_new_per_subject", "duplicate_window", "consumer_limits", "subject_delete_marker_ttl",
     "allow_atomic", "allow_batched", "allow_msg_schedules", "mirror_direct")
)  # fmt: skip
"""What a mirror may not have, or what would remove messages before all are there."""

WHOLE = 1 << 30
"""Bytes that go to a cluster at once; more go in pieces, and so does what broke off once."""

_LONGEST = 255
_OVERLAP = 10065


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


class Plan(NamedTuple):
    """How to copy. landing: the configuration while messages come; None where a copy that broke off cannot be
    gone on with. pieces: whether to bring the messages piece by piece from the start (`copyrest`)."""

    landing: Json | None
    pieces: bool = False


async def plan(
    source: End, target: End, config: Json, *, consumers: bool = False, again: bool = False
) -> Plan:
    """Have the server judge the configuration, and see how to copy. again: it broke off once.

    Raises BadInput, ApiError, JsctlError.
    """
    await streams.check_level(target.api, config)
    if source.stream != target.stream:
        await api_levels.require(target.api, {ApiLevel.V2_15: ["a copy of messages under another name"]})
    landing = await _landing(source, target, config, consumers)
    if landing is None:
        return Plan(None)
    clustered = await _try_out(target, {**config, "name": target.stream})
    state = (await streams.info(source.api, source.stream))["state"]
    # A cluster keeps nothing of a restore that broke off.
    return Plan(landing, clustered and not consumers and (again or int(state["bytes"]) > WHOLE))


async def transfer(
    source: End, target: End, config: Json, plan: Plan, *, consumers: bool = False, told: Told | None = None
) -> tuple[Json, Json]:
    """Make the target of the source's messages; gives its info, marked as not compared, and the state of the
    source that was copied.

    told: the bytes, uncompressed. When it fails, what is there stays and `copyrest` goes on with it, where
    the plan allows that; else nothing is left of the target.
    """
    config = {**config, "name": target.stream}
    landing = plan.landing
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
            info = await snapshot.give(
                target.api, landing or config, taken.state, chunks, keep=landing is not None
            )
    if landing:
        return await promote(target, config), taken.state
    if snapshot.mark_of(info):
        marked = snapshot.with_mark(snapshot.without_mark(info["config"]), _COMPARE)
        info = await snapshot.put(target.api, marked)
    return info, taken.state


def rest_name(stream: str) -> str:
    """The stream that brings a broken copy what it lacks (see `copyrest`)."""
    return f"{stream}_jsctl_rest"


def rest_subject(stream: str) -> str:
    """A stream needs a subject; nobody publishes to this one."""
    return f"jsctl.rest.{stream}"


async def origin(source: End, consumers: bool) -> str:
    """What a copy is of: the stream, told apart from another of its name by when it was made."""
    created = (await streams.info(source.api, source.stream)).get("created", "")
    return f"{source.stream} {created}{' with consumers' if consumers else ''}"


async def _landing(source: End, target: End, config: Json, consumers: bool) -> Json | None:
    """The configuration while messages come; None where a copy that broke off cannot be gone on with.

    It is a mirror of a stream that is not there yet: the one way in which a server lets a stream that exists
    have messages with their sequences and times. Nobody can publish to it, and no limit removes anything.
    """
    if config.get("mirror") or config.get("allow_msg_counter") or len(rest_name(target.stream)) > _LONGEST:
        return None
    for api in {source.api, target.api}:
        said = (await api_levels.account_info(api)).get("api") or {}
        if int(said.get("level", 0)) < ApiLevel.V2_15:
            return None  # before 2.15 a restore that broke off leaves nothing
    made = {key: value for key, value in config.items() if key not in _LATER} | {"name": target.stream}
    if made.get("retention") == "interest":
        made["retention"] = "limits"
    metadata = {**(config.get("metadata") or {}), ORIGIN: await origin(source, consumers)}
    return {**made, "mirror": {"name": rest_name(target.stream)}, "metadata": metadata}


async def _try_out(target: End, config: Json) -> bool:
    """Have the server judge a configuration that it gets to see only when all messages are there; gives
    whether it is one of a cluster. Raises ApiError.
    """
    listening = config.get("subjects") or ([] if config.get("sources") else [target.stream])
    for subject in listening:
        if await streams.names(target.api, subject):
            raise ApiError(400, _OVERLAP, "subjects overlap with an existing stream", hint(_OVERLAP))
    rest = rest_name(target.stream)
    trial = {key: value for key, value in config.items() if key not in (*SEALS, *_AIMED)}
    trial |= {"name": rest, "subjects": [rest_subject(target.stream)]}
    left = await streams.exists(target.api, rest)
    if left is not None:
        if not snapshot.mark_of(left):
            raise JsctlError(f"stream {rest} is in the way", "a copy needs that name; remove it")
        await streams.delete(target.api, rest)
    made, _ = await streams.create(target.api, snapshot.with_mark(trial))
    await streams.delete(target.api, rest)
    return "cluster" in made


async def promote(target: End, config: Json) -> Json:
    """Give a stream that has all messages its own configuration, but the seal; gives its info, marked as not
    compared. Raises JsctlError, and then all messages stay."""
    unsealed = {key: value for key, value in config.items() if key not in SEALS}
    marked = snapshot.with_mark({**unsealed, "name": target.stream}, _COMPARE)
    return await snapshot.put(target.api, marked, hint="started again with other flags, the copy goes on")


async def finish(target: End, info: Json, config: Json) -> Json:
    """Take the mark off, and seal what shall be sealed; gives the info. Raises JsctlError."""
    if not snapshot.mark_of(info):
        return info
    seals = {key: True for key in SEALS if config.get(key)}
    return await snapshot.put(target.api, {**snapshot.without_mark(info["config"]), **seals})


def is_copied(info: Json) -> bool:
    """Whether the stream was copied as a whole and not compared to the end."""
    return snapshot.mark_of(info).startswith(_COMPARE)


def to_compare(state: Json, info: Json) -> Json:
    """The state of the source that a copy was made of, as far as its state now tells: up to the last message
    of the copy, and from the first one of the copy where limits remove the first."""
    mine, config = info["state"], info["config"]
    limits = ("max_age", "max_msgs", "max_bytes", "max_msgs_per_subject", "allow_msg_ttl")
    limited = any(int(config.get(key) or 0) > 0 for key in limits) or config.get("retention") == "interest"
    first = max(int(state["first_seq"]), int(mine["first_seq"]) if limited else 0)
    return {**state, "first_seq": first, "last_seq": min(int(state["last_seq"]), int(mine["last_seq"]))}


async def settled(end: End, left: Json) -> Json:
    """The info of what a broken transfer left, a second later. Raises JsctlError when one is going on."""
    await asyncio.sleep(1)
    now = await streams.info(end.api, end.stream)
    if now["state"]["last_seq"] != left["state"]["last_seq"]:
        raise JsctlError(f"stream {end.stream} is just being restored", "wait for that to end")
    return now


async def holds_nothing_else(source: End, target: End, left: Json) -> bool:
    """Whether what a broken transfer left ends with a message of the source: then nobody has published to it.

    Raises JsctlError when a transfer is still going on.
    """
    now = await settled(target, left)
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
    ours: AsyncIterator[Message],
    theirs: AsyncIterator[Message],
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


def _judge(sequence: int, here: Message | None, there: Message | None, found: Comparison) -> None:
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
        keys = {"subject": "subject", "time": "timestamp", "header": "header_block", "data": "data"}
        what = [key for key, name in keys.items() if getattr(here, name) != getattr(there, name)]
        found.different[sequence] = ", ".join(what)


async def _again(end: End, sequence: int) -> Message | None:
    try:
        return await browse.at(end.api, end.stream, sequence)
    except NotFound:
        return None


async def _range(end: End, start: int, last: int, direct: bool) -> AsyncGenerator[Message, None]:
    async for message in browse.read(end.api, end.stream, start=start, last=last, bulk=direct):
        if message.sequence <= last:
            yield message
        if message.sequence >= last:  # before it asks for more
            return


async def _is_direct(end: End) -> bool:
    info = await streams.info(end.api, end.stream)
    return bool(info["config"].get("allow_direct"))
