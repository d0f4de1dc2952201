"""Dumps: a message as a JSON object, one per line, that can be published again.

    {"sequence": 7, "time": "2026-11-21T06:57:05.123456789Z", "stream": "ORDERS", "subject": "orders.eu",
     "reply": "", "headers": {"K": ["v"]}, "data": "text"}

`data_base64` replaces `data` if the payload is not UTF-8; headers with such a value are in `headers_base64`.
Dumps of the `nats` tool (`{"Subject", "Reply", "Header", "Data"}`, files in a folder or separated by NUL) are
read as well.
"""

import binascii
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from jsctl.base import units
from jsctl.base.files import escape_path
from jsctl.base.json_text import parse_json
from jsctl.base.units import format_rfc3339
from jsctl.base.user_folders import expand_home
from jsctl.errors import BadInput
from jsctl.jetstream.message.payload import decode_headers_field, encode_field, encode_headers_field
from jsctl.jetstream.message.stdin import STDIN, read_chunks
from jsctl.nats.headers import encode_headers
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.subjects import validate_subject

Record = dict[str, Any]

RECORD_SIZE = 96 << 20
"""Maximum number of bytes of a record: the largest payload in base64, and room for its headers."""

_SEPARATOR = re.compile(rb"(\n|\0+)")


def record(item: Message, number: int, received: int) -> Record:
    """Return the JSON object of a message.

    number, received: replace sequence and time (ns since the epoch) for a message that comes from no stream.
    """
    meta = item.metadata
    fields: Record = {
        "sequence": meta.sequence if meta else number,
        "time": format_rfc3339(meta.time if meta else received),
    }
    if meta:
        fields["stream"] = meta.stream
    fields["subject"] = item.subject
    if item.reply and not meta:
        fields["reply"] = item.reply
    if item.header_block:
        fields |= encode_headers_field(item.headers)
    return {**fields, **encode_field("data", item.data)}


def parse_record(record: Any) -> OutgoingMessage:
    """Return the message that a record describes. Raises BadInput."""
    if not isinstance(record, dict):
        raise BadInput("a dumped message must be a JSON object")
    native = "Subject" in record
    subject, reply = (record.get(key) for key in (("Subject", "Reply") if native else ("subject", "reply")))
    try:
        if not isinstance(subject, str):
            raise BadInput("a dumped message has no subject")
        if native:
            data = binascii.a2b_base64(record.get("Data") or "", strict_mode=True)
        elif "data_base64" in record:
            data = binascii.a2b_base64(record["data_base64"], strict_mode=True)
        else:
            data = str(record.get("data", "")).encode()
        return OutgoingMessage(
            validate_subject(subject),
            data,
            validate_subject(reply, "reply on") if reply else "",
            encode_headers(decode_headers_field(record, "Header" if native else "headers")),
            0 if native else _parse_time(record),
        )
    except (binascii.Error, TypeError, AttributeError, UnicodeEncodeError):
        raise BadInput("a dumped message cannot be read: its data or headers are damaged") from None


def _parse_time(record: Record) -> int:
    text = str(record.get("time", ""))
    if not text:
        return 0
    try:
        return units.parse_time_ns(text)
    except ValueError:
        raise BadInput(f"{text!r} in a dump is not a valid time") from None


async def read(path: str, stdin: TextIO) -> AsyncGenerator[Sequence[OutgoingMessage], None]:
    """Yield the messages of a dump, in groups as they become available.

    path: a file of lines, a folder of files, or `-` for stdin. Raises BadInput for a record that cannot be
    read, after yielding the messages before it.
    """
    folder = expand_home(path)
    is_folder = path != STDIN and _is_folder(folder)
    paths = [*map(str, sorted(folder.glob("*.json"), key=_build_sort_key))] if is_folder else [path]
    for file in paths:
        records = _Records("stdin" if file == STDIN else escape_path(expand_home(file)))
        async for chunk in read_chunks(file, stdin, regular=is_folder):
            for group in _parse_records(records.feed(chunk)):
                yield group
        for group in _parse_records(records.end()):
            yield group


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except ValueError:  # NUL, or an unpaired surrogate
        return False


def _build_sort_key(file: Path) -> tuple[int, str]:
    """Return the sort key of a file: `7.json` before `10.json`, and before `7_reply.json`."""
    digits = file.stem.split("_")[0]
    return (int(digits) if digits.isdigit() else 0, file.stem)


class _Records:
    """A splitter of a dump into its records: one per line, or separated by NUL. name: used in errors."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._parts: list[bytes] = []  #: the parts of the last record
        self._size = 0
        self._line = 1

    def feed(self, chunk: bytes) -> Iterator[tuple[str, bytes]]:
        """Yield the records that a chunk completes, each with its position. Raises BadInput for a record that
        is too large."""
        parts = _SEPARATOR.split(chunk)
        for separator, part in zip(["", *parts[1::2]], parts[::2], strict=True):
            if separator:
                yield from self.end()
                self._line += separator == b"\n"
            self._parts.append(part)
            self._size += len(separator) + len(part)
            if self._size > RECORD_SIZE:
                raise BadInput(f"{self._place}: more than {RECORD_SIZE:,} bytes without the end of a message")

    def end(self) -> Iterator[tuple[str, bytes]]:
        """Yield the last record, unless it is empty."""
        text, self._parts = b"".join(self._parts), []
        if text.strip():
            self._size = 0
            yield self._place, text

    @property
    def _place(self) -> str:
        return f"{self._name} line {self._line}"


def _parse_records(records: Iterator[tuple[str, bytes]]) -> Iterator[Sequence[OutgoingMessage]]:
    """Yield the messages of records; for one that cannot be read, yield those before it and raise
    BadInput."""
    messages: list[OutgoingMessage] = []
    try:
        for place, text in records:
            messages.append(_parse_message(place, text))
    except BadInput:
        yield messages
        raise
    yield messages


def _parse_message(place: str, text: bytes) -> OutgoingMessage:
    try:
        return parse_record(parse_json(text))
    except ValueError:
        raise BadInput(f"{place} is not JSON") from None
    except BadInput as error:
        raise BadInput(f"{place}: {error}") from None
