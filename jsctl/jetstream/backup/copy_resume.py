"""Resuming a copy whose transfer was interrupted.

The target has the first messages of the source, and is a mirror of a stream that does not exist
(`copy_transfer`). The messages that it lacks are read from the source, packed as a snapshot and restored as
that stream (the "rest"); the server then moves them into the target, with sequences and times. All of this
may be interrupted again: what was restored is moved, and the next run sends what is still missing. After an
interruption only the few messages that were on their way are sent twice.

A cluster removes the remains of an interrupted restore. So there the messages are sent in pieces, each
restored completely: an interruption costs the last piece.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress

from jsctl.base.units import parse_time_ns
from jsctl.errors import ApiError, JsctlError, NotFound, RequestTimeout
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.archive import encode_entry, encode_state
from jsctl.jetstream.backup.copy_transfer import (
    Endpoint,
    fetch_rest,
    name_rest_stream,
    name_rest_subject,
    wait_until_idle,
)
from jsctl.jetstream.backup.events import Advance
from jsctl.jetstream.backup.marks import add_mark
from jsctl.jetstream.backup.s2 import ARCHIVE_END, STREAM_START, build_frame
from jsctl.jetstream.backup.snapshot import Chunks, restore_snapshot
from jsctl.jetstream.message import browse
from jsctl.jetstream.state import get_mark
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.acks import Metadata
from jsctl.nats.error_codes import ErrorCode
from jsctl.nats.message import Message

_FRAME_SIZE = 256 << 10
"""Approximate number of bytes of data in a frame."""


async def write_snapshot(messages: AsyncIterator[Message], state: Json) -> Chunks:
    """Yield the bytes of a snapshot with these messages. state: the stream's, as in STREAM.INFO."""
    yield STREAM_START
    entries = [encode_state(state)]
    size = 0
    async for message in messages:
        time = parse_time_ns(message.timestamp)
        entry = encode_entry(
            message.subject.encode(), time, message.sequence, message.header_block, message.data
        )
        entries.append(entry)
        size += len(entry)
        if size >= _FRAME_SIZE:
            for frame in _build_frames(b"".join(entries)):
                yield frame
            entries, size = [], 0
    for frame in _build_frames(b"".join([*entries, ARCHIVE_END])):
        yield frame


def _build_frames(data: bytes) -> list[bytes]:
    return [build_frame(data[at : at + _FRAME_SIZE]) for at in range(0, len(data), _FRAME_SIZE)]


_HEADERS_REMOVED_BY_MIRRORS = (b"\nNats-Expected-", b"\nNats-Batch-")

_FILLER_SUBJECT = "jsctl.rest"
"""Subject of a message in the place of the source's last one, where that was deleted. It is deleted, too, so
that the last sequence is the same."""

_PIECE_SECONDS = 45
"""Seconds for which a piece is sent. A mirror whose origin was removed asks a cluster for it after 10 to 20
s, and again 40 s later: by then the next piece is there."""

_POLL_SECONDS = 0.25
_MOVE_SECONDS = 240
"""Seconds that the server may take until it moves messages: it looks for a mirror's origin again after 10,
20, ... 120 s, and waits up to 30 s for an answer."""

_REMOVAL_SECONDS = 30
"""Seconds that a cluster may take to remove the remains of an interrupted restore."""

_STABLE_POLLS = 8
"""Consecutive polls without a change after which a stream counts as stable."""


class CannotResume(JsctlError):
    """The remaining messages cannot be transferred as they are; the copy has to start over."""


def is_broken_copy(info: Json) -> bool:
    """Return whether an interrupted transfer left a stream in such a state that the transfer can continue."""
    mirror = info["config"].get("mirror") or {}
    return bool(get_mark(info)) and mirror.get("name") == name_rest_stream(info["config"]["name"])


async def wait_until_stable(target: Endpoint, info: Json) -> Json:
    """Return the info of an interrupted copy once its state no longer changes.

    info: as it was before. Raises JsctlError while a transfer is running.
    """
    if "cluster" not in info:
        return await wait_until_idle(target, info)
    loop = asyncio.get_running_loop()
    deadline, polls = loop.time() + _REMOVAL_SECONDS, 0
    while loop.time() < deadline:
        # Until a cluster has ended a restore, it does not report the mirror; then it creates the stream
        # again, empty, and it may be unreachable at first.
        current = None
        with suppress(RequestTimeout):
            current = await streams.fetch_info_or_none(target.api, target.stream)
        polls = polls + 1 if current is not None and current.get("mirror") else 0
        if current is not None and polls > _STABLE_POLLS:
            return current
        await asyncio.sleep(_POLL_SECONDS)
    raise JsctlError(f"stream {target.stream} is being restored", "wait for that to end")


async def resume_copy(source: Endpoint, target: Endpoint, advance: Advance) -> Json:
    """Transfer the messages that the target lacks; return the state of the source that they complete.

    advance: called with the size of messages in bytes, as the source stores them. Raises CannotResume,
    JsctlError.
    """
    source_info = await streams.fetch_info(source.api, source.stream)
    state: Json = source_info["state"]
    while True:
        await _wait_for_move(target)
        await _delete_filler(target)
        info = await streams.fetch_info(target.api, target.stream)
        if int(info["state"]["last_seq"]) >= int(state["last_seq"]):
            return state
        seconds = _PIECE_SECONDS if "cluster" in info else 0
        await _send_rest(source, target, source_info, info, advance, seconds)


async def copy_in_pieces(source: Endpoint, target: Endpoint, landing_config: Json, advance: Advance) -> Json:
    """Copy piece by piece from the start; return what `resume_copy` returns. landing_config: see
    `CopyPlan`."""
    source_info = await streams.fetch_info(source.api, source.stream)
    nothing = {"config": landing_config, "state": {"last_seq": 0, "bytes": 0}}
    # Sent before the stream that mirrors it exists: when a mirror finds no origin, it waits 40 s.
    await _send_rest(source, target, source_info, nothing, advance, _PIECE_SECONDS)
    await streams.create(target.api, add_mark(landing_config))
    return await resume_copy(source, target, advance)


async def remove_broken_copy(target: Endpoint) -> None:
    """Remove an interrupted copy, and the stream that holds its rest."""
    rest = await streams.fetch_info_or_none(target.api, name_rest_stream(target.stream))
    if rest is not None and get_mark(rest):
        await streams.delete(target.api, name_rest_stream(target.stream))
    await streams.delete(target.api, target.stream)


async def _send_rest(
    source: Endpoint,
    target: Endpoint,
    source_info: Json,
    target_info: Json,
    advance: Advance,
    seconds: float,
) -> None:
    """Restore the messages after the target's last one as the stream that it mirrors.

    seconds: after which to stop; 0 to send all of them.
    """
    source_state, target_state = source_info["state"], target_info["state"]
    start = max(int(target_state["last_seq"]) + 1, int(source_state["first_seq"]))
    config = {
        key: target_info["config"][key]
        for key in ("storage", "num_replicas", "placement", "allow_msg_ttl", "max_bytes")
        if target_info["config"].get(key) is not None
    }
    config |= {"name": name_rest_stream(target.stream), "subjects": [name_rest_subject(target.stream)]}
    rest_state: Json = {
        "messages": 0,
        "bytes": max(int(source_state["bytes"]) - int(target_state["bytes"]), 0),
        "first_seq": start,
        "last_seq": start - 1,  # the messages show where it really ends
        "consumer_count": 0,
    }
    loop = asyncio.get_running_loop()
    began = loop.time()
    while True:
        deadline = loop.time() + seconds if seconds else 0
        async with (
            aclosing(_read_missing_messages(source, source_info, start, deadline, advance)) as messages,
            aclosing(write_snapshot(messages, rest_state)) as chunks,
        ):
            try:
                await restore_snapshot(target.api, config, rest_state, chunks, keep_partial=True)
                return
            except ApiError as error:
                # A cluster takes some seconds to remove the remains of a restore that has just failed.
                name_taken_codes = (ErrorCode.STREAM_NAME_EXIST, ErrorCode.STREAM_NAME_EXIST_RESTORE_FAILED)
                if error.err_code not in name_taken_codes or loop.time() - began > _REMOVAL_SECONDS:
                    raise
                await asyncio.sleep(1)


async def _read_missing_messages(
    source: Endpoint, source_info: Json, start: int, deadline: float, advance: Advance
) -> AsyncGenerator[Message, None]:
    """Yield the messages from a sequence on, and a filler in place of the last one if that was deleted.

    deadline: the loop's time at which to stop, or 0. Raises CannotResume.
    """
    loop = asyncio.get_running_loop()
    last, config = int(source_info["state"]["last_seq"]), source_info["config"]
    storage, direct = config.get("storage", "file"), bool(config.get("allow_direct"))
    sequence = start - 1
    async for message in browse.read(source.api, source.stream, start=start, last=last, bulk=direct):
        if message.header_block and any(name in message.header_block for name in _HEADERS_REMOVED_BY_MIRRORS):
            raise CannotResume(f"message {message.sequence} has a header that only a restore keeps")
        yield message
        sequence = message.sequence
        advance(browse.compute_stored_size(message, storage))
        if deadline and loop.time() > deadline:
            return
    if sequence < last:
        metadata = Metadata(source.stream, last, str(source_info["state"]["last_ts"]))
        yield Message(_FILLER_SUBJECT, metadata=metadata)


async def _wait_for_move(target: Endpoint) -> None:
    """Wait until the server has moved the rest into the target, and remove the rest.

    Raises JsctlError when another stream has its name, RequestTimeout.
    """
    name = name_rest_stream(target.stream)
    loop = asyncio.get_running_loop()
    previous, moved_at = -1, loop.time()
    while True:
        rest = await fetch_rest(target)
        if rest is None:
            return
        info = await streams.fetch_info(target.api, target.stream)
        last = int(info["state"]["last_seq"])
        if not int(rest["state"]["messages"]) or last >= int(rest["state"]["last_seq"]):
            await streams.delete(target.api, name)
            return
        if last != previous:
            previous, moved_at = last, loop.time()
        elif loop.time() - moved_at > _MOVE_SECONDS:
            reason = ((info.get("mirror") or {}).get("error") or {}).get("description", "no reason given")
            raise RequestTimeout(f"the server does not move messages from {name}: {reason}", "try again")
        await asyncio.sleep(_POLL_SECONDS)


async def _delete_filler(target: Endpoint) -> None:
    """Delete the filler message, if the target ends with it."""
    last = int((await streams.fetch_info(target.api, target.stream))["state"]["last_seq"])
    try:
        message = await browse.fetch(target.api, target.stream, last) if last else None
    except NotFound:
        return
    if message is not None and message.subject == _FILLER_SUBJECT:
        await streams.delete_message(target.api, target.stream, last, erase=False)
