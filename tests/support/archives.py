"""Backups of a stream, made without a server."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jsctl.jetstream.backup.archive import Consumer, encode_consumer, encode_entry, encode_state
from jsctl.jetstream.backup.files import DATA, META
from jsctl.jetstream.backup.s2 import ARCHIVE_END, STREAM_START, build_frame

HEADERS = b"NATS/1.0\r\nX-Batch: 7\r\n\r\n"
CONSUMER = {"config": {"durable_name": "C1", "filter_subject": "ORDERS.new"}, "state": {"delivered": {}}}
MESSAGES = [
    (b"ORDERS.new", 1, b"", b"message 1"),
    (b"ORDERS.paid", 2, HEADERS, b"message 2"),
    (b"ORDERS.new", 4, b"", b""),
    (b"ORDERS.paid", 5, HEADERS, b"message 5"),
    (b"ORDERS.new.eu", 6, b"", b"message 6" * 40),
]
SECOND = 10**9


def build_archive(
    messages: Iterable[tuple[bytes, int, bytes, bytes]], last: int = 7, consumers: int = 1
) -> bytes:
    """Return an archive; a message is stored in the second of its sequence."""
    messages = list(messages)
    state = {
        "messages": len(messages),
        "bytes": 1,
        "first_seq": 1,
        "last_seq": last,
        "consumer_count": consumers,
    }
    entries = [encode_state(state, SECOND)]
    entries += [encode_consumer(Consumer(f"C{n + 1}", SECOND, CONSUMER, b"")) for n in range(consumers)]
    entries += [encode_entry(name, seq * SECOND, seq, headers, data) for name, seq, headers, data in messages]
    return b"".join((*entries, ARCHIVE_END))


def pack(archive: bytes, size: int = 1 << 20) -> bytes:
    """Return the S2 file of an archive, in frames of `size` bytes."""
    frames = (build_frame(archive[at : at + size]) for at in range(0, len(archive), size))
    return STREAM_START + b"".join(frames)


def write_backup(folder: Path, data: bytes | None = None, **config: Any) -> Path:
    """Write a folder with a backup, as the `nats` tool writes it."""
    folder.mkdir()
    (folder / DATA).write_bytes(pack(build_archive(MESSAGES)) if data is None else data)
    whole = {"name": "ORDERS", "subjects": ["ORDERS.>"], "storage": "file", **config}
    state = {"messages": 5, "first_seq": 1, "last_seq": 7}
    (folder / META).write_text(json.dumps({"config": whole, "state": state}))
    return folder
