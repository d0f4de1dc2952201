"""Snapshots that jsctl writes itself, from messages that it read; a server restores them like its own."""

from collections.abc import AsyncIterator

from jsctl.base.units import parse_time_ns
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.archive import encode_entry, encode_state
from jsctl.jetstream.backup.s2 import ARCHIVE_END, STREAM_START, build_frame
from jsctl.jetstream.backup.snapshot import Chunks
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
