"""Going on with a copy whose transfer broke off.

The target has the first messages of the source, and is a mirror of a stream that does not exist
(`copydata`). What it lacks is read from the source, packed as a snapshot and restored as that stream; the
server then moves it into the target, with sequences and times. All of it can break off again: what was
restored is moved, and the next run sends what is still missing. After an interruption no message is sent
twice, but the few that were on their way.

A cluster removes what a restore leaves that broke off, so there it goes in pieces, each restored to its end:
an interruption costs the last piece.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from jsctl.errors import ApiError, JsctlError, NotFound, RequestTimeout
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup import snapshot
from jsctl.jetstream.backup import snapshot_writer as archive
from jsctl.jetstream.backup.copy import ORIGIN, End, origin, rest_name, rest_subject, settled
from jsctl.jetstream.backup.files import Told
from jsctl.jetstream.message import browse
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.acks import Metadata
from jsctl.nats.message import Message

_TAKEN_OFF = (b"\nNats-Expected-", b"\nNats-Batch-")
"""Headers that a server removes on their way into a mirror."""

_FILLER = "jsctl.rest"
"""Subject of a message in the place of the source's last one, where that was deleted. It is deleted, too, so
that the last sequence is the same."""

_PIECE = 45
"""Seconds that a piece is sent for. A mirror whose origin was removed asks a cluster for it after 10 to 20 s,
and again 40 s later: then the next piece is there."""

_PAUSE = 0.25
_PATIENCE = 240
"""Seconds: the server looks for a mirror's origin again after 10, 20, ... 120 s, and asks for up to 30 s."""

_STILL_THERE = (10058, 10130)
_REMOVAL = 30
"""Seconds that a cluster may take to remove what a restore left."""

_OFTEN = 8
"""Looks at a stream, one after the other, after which it is taken to stay."""


class NotPossible(JsctlError):
    """The rest cannot be brought as it is; the copy has to begin again."""


def is_broken(info: Json) -> bool:
    """Whether a stream is what a broken transfer left, and more can be brought to it."""
    mirror = info["config"].get("mirror") or {}
    return bool(snapshot.mark_of(info)) and mirror.get("name") == rest_name(info["config"]["name"])


async def is_of(source: End, info: Json, consumers: bool) -> bool:
    """Whether a broken copy is one of this stream, and with or without consumers as wanted now."""
    metadata: Json = info["config"].get("metadata") or {}
    return bool(metadata.get(ORIGIN) == await origin(source, consumers))


async def left_by(target: End, left: Json) -> Json:
    """The info of a broken copy, once it is sure what stays. Raises JsctlError while a transfer goes on."""
    if "cluster" not in left:
        return await settled(target, left)
    loop = asyncio.get_running_loop()
    until, seen = loop.time() + _REMOVAL, 0
    while loop.time() < until:
        # Until a cluster has ended a restore, it does not speak of the mirror; then it makes the stream anew,
        # empty, which may be out of reach at first.
        info = None
        with suppress(RequestTimeout):
            info = await streams.exists(target.api, target.stream)
        seen = seen + 1 if info is not None and info.get("mirror") else 0
        if info is not None and seen > _OFTEN:
            return info
        await asyncio.sleep(_PAUSE)
    raise JsctlError(f"stream {target.stream} is just being restored", "wait for that to end")


async def go_on(source: End, target: End, *, told: Told | None = None) -> Json:
    """Bring the target what it lacks; gives the state of the source that it then has.

    told: the bytes of messages, as the source stores them. Raises NotPossible, JsctlError.
    """
    whole = await streams.info(source.api, source.stream)
    state: Json = whole["state"]
    while True:
        await _moved(target)
        await _sweep(target)
        info = await streams.info(target.api, target.stream)
        if int(info["state"]["last_seq"]) >= int(state["last_seq"]):
            return state
        await _bring(source, target, whole, info, told, seconds=_PIECE if "cluster" in info else 0)


async def in_pieces(source: End, target: End, landing: Json, *, told: Told | None = None) -> Json:
    """Copy piece by piece from the start; as `go_on`. landing: see `copydata.Plan`."""
    whole = await streams.info(source.api, source.stream)
    nothing = {"config": landing, "state": {"last_seq": 0, "bytes": 0}}
    # Before the stream that mirrors it: that one waits 40 s when it asks in vain.
    await _bring(source, target, whole, nothing, told, seconds=_PIECE)
    await streams.create(target.api, snapshot.with_mark(landing))
    return await go_on(source, target, told=told)


async def drop(target: End) -> None:
    """Remove a broken copy, and what was to be brought to it."""
    rest = await streams.exists(target.api, rest_name(target.stream))
    if rest is not None and snapshot.mark_of(rest):
        await streams.delete(target.api, rest_name(target.stream))
    await streams.delete(target.api, target.stream)


async def _bring(
    source: End, target: End, whole: Json, info: Json, told: Told | None, *, seconds: float
) -> None:
    """Restore what follows the target's last message as the stream that it mirrors. whole, info: of the
    source and the target. seconds: to end after, or 0."""
    state, have = whole["state"], info["state"]
    start = max(int(have["last_seq"]) + 1, int(state["first_seq"]))
    config = {
        key: info["config"][key]
        for key in ("storage", "num_replicas", "placement", "allow_msg_ttl", "max_bytes")
        if info["config"].get(key) is not None
    }
    config |= {"name": rest_name(target.stream), "subjects": [rest_subject(target.stream)]}
    rest: Json = {
        "messages": 0,
        "bytes": max(int(state["bytes"]) - int(have["bytes"]), 0),
        "first_seq": start,
        "last_seq": start - 1,  # where it really ends, the messages say
        "consumer_count": 0,
    }
    loop = asyncio.get_running_loop()
    began = loop.time()
    while True:
        until = loop.time() + seconds if seconds else 0
        async with (
            aclosing(_missing(source, whole, start, until, told)) as messages,
            aclosing(archive.pack(messages, rest)) as chunks,
        ):
            try:
                await snapshot.give(target.api, config, rest, chunks, keep=True)
                return
            except ApiError as error:
                # A cluster takes some seconds to remove what broke off just before.
                if error.err_code not in _STILL_THERE or loop.time() - began > _REMOVAL:
                    raise
                await asyncio.sleep(1)


async def _missing(
    source: End, whole: Json, start: int, until: float, told: Told | None
) -> AsyncGenerator[Message, None]:
    """The messages from a sequence on, and a filler where the last one was deleted. until: the loop's time
    at which it ends before, or 0. Raises NotPossible."""
    loop = asyncio.get_running_loop()
    last, config = int(whole["state"]["last_seq"]), whole["config"]
    storage, direct = config.get("storage", "file"), bool(config.get("allow_direct"))
    found = start - 1
    async for message in browse.read(source.api, source.stream, start=start, last=last, bulk=direct):
        if message.sequence > last:
            break
        if message.header_block and any(name in message.header_block for name in _TAKEN_OFF):
            raise NotPossible(f"message {message.sequence} has a header that servers keep in a restore only")
        yield message
        found = message.sequence
        if told:
            told(browse.stored_size(message, storage))
        if found == last:
            return  # before it asks for more
        if until and loop.time() > until:
            return
    if found < last:
        yield Message(_FILLER, metadata=Metadata(source.stream, last, str(whole["state"]["last_ts"])))


async def _moved(target: End) -> None:
    """Wait until the server has moved into the target what was brought, and remove that.

    Raises JsctlError when a stream has that name, RequestTimeout.
    """
    name = rest_name(target.stream)
    loop = asyncio.get_running_loop()
    before, moved_at = -1, loop.time()
    while True:
        rest = await streams.exists(target.api, name)
        if rest is None:
            return
        if not snapshot.mark_of(rest):
            raise JsctlError(f"stream {name} is in the way", "a copy needs that name; remove it")
        info = await streams.info(target.api, target.stream)
        last = int(info["state"]["last_seq"])
        if not int(rest["state"]["messages"]) or last >= int(rest["state"]["last_seq"]):
            await streams.delete(target.api, name)
            return
        if last != before:
            before, moved_at = last, loop.time()
        elif loop.time() - moved_at > _PATIENCE:
            why = ((info.get("mirror") or {}).get("error") or {}).get("description", "no reason given")
            raise RequestTimeout(f"the server does not move messages from {name}: {why}", "try again")
        await asyncio.sleep(_PAUSE)


async def _sweep(target: End) -> None:
    """Delete the filler, if it is the last message."""
    last = int((await streams.info(target.api, target.stream))["state"]["last_seq"])
    try:
        message = await browse.at(target.api, target.stream, last) if last else None
    except NotFound:
        return
    if message is not None and message.subject == _FILLER:
        body = {"seq": last, "no_erase": True}
        await target.api.call(f"STREAM.MSG.DELETE.{target.stream}", body)
