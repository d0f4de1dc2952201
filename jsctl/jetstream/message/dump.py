"""Dumps: a message as a JSON object, one a line, that can be published again.

    {"sequence": 7, "time": "2026-11-21T06:57:05.123456789Z", "stream": "ORDERS", "subject": "orders.eu",
     "reply": "", "headers": {"K": ["v"]}, "data": "text"}

`data_base64` stands in for `data` where the payload is not UTF-8. What the `nats` tool dumps
(`{"Subject", "Reply", "Header", "Data"}`, files in a folder or separated by NUL) is read as well.
"""

import base64
import binascii
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from jsctl import units
from jsctl.errors import BadInput
from jsctl.jetstream.message.payload import data_field, headers_field, headers_from
from jsctl.json_text import parse_json
from jsctl.nats.headers import encode_headers, parse_headers
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.subjects import validate_subject
from jsctl.units import format_rfc3339

Record = dict[str, Any]


def record(item: Message, number: int, received: int) -> Record:
    """Return the JSON object of a message.

    number, received: in place of sequence and time (ns since the epoch) for a message that comes from no
    stream.
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
        fields["headers"] = headers_field(parse_headers(item.header_block))
    return {**fields, **data_field(item.data)}


def outgoing(record: Any) -> OutgoingMessage:
    """Return the message that a record describes. Raises BadInput."""
    if not isinstance(record, dict):
        raise BadInput("a dumped message is a JSON object")
    native = "Subject" in record
    keys = ("Subject", "Reply", "Header") if native else ("subject", "reply", "headers")
    try:
        subject, reply, headers = (record.get(key) for key in keys)
        if not isinstance(subject, str):
            raise BadInput("a dumped message has no subject")
        if native:
            data = base64.b64decode(record.get("Data") or "", validate=True)
        elif "data_base64" in record:
            data = base64.b64decode(record["data_base64"], validate=True)
        else:
            data = str(record.get("data", "")).encode()
        return OutgoingMessage(
            validate_subject(subject),
            data,
            validate_subject(reply, "reply on") if reply else "",
            encode_headers(headers_from(headers)),
            0 if native else _time(record),
        )
    except (binascii.Error, TypeError, AttributeError, UnicodeEncodeError):
        raise BadInput("a dumped message cannot be read: its data or headers are damaged") from None


def _time(record: Record) -> int:
    text = str(record.get("time", ""))
    if not text:
        return 0
    try:
        return units.parse_time_ns(text)
    except ValueError:
        raise BadInput(f"{text!r} in a dump is not a time") from None


def read(path: str, stdin: TextIO) -> Iterator[OutgoingMessage]:
    """Iterate over the messages of a dump: a file of lines, `-` for stdin, or a folder of files.

    Raises BadInput.
    """
    if path == "-":
        yield from _records(stdin, "stdin")
        return
    where = Path(path).expanduser()
    try:
        if where.is_dir():
            for file in sorted(where.glob("*.json"), key=_number):
                with file.open(encoding="utf-8") as text:
                    yield from _records(text, str(file))
            return
        with where.open(encoding="utf-8") as text:
            yield from _records(text, path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise BadInput(f"cannot read {path}: {reason}") from None


def _number(file: Path) -> tuple[int, str]:
    """`7.json` before `10.json`, and before `7_reply.json`."""
    digits = file.stem.split("_")[0]
    return (int(digits) if digits.isdigit() else 0, file.stem)


def _records(text: TextIO, name: str) -> Iterator[OutgoingMessage]:
    for number, line in enumerate(text, 1):
        for part in line.split("\0"):
            if not part.strip():
                continue
            try:
                yield outgoing(parse_json(part))
            except ValueError:
                raise BadInput(f"{name} line {number} is not JSON") from None
            except BadInput as error:
                raise BadInput(f"{name} line {number}: {error}") from None
