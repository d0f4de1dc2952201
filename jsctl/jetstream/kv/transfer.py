"""Buckets as JSON lines: every stored entry, in its order, so that it can be stored again.

    {"bucket": "CONFIG", "key": "user.1", "revision": 7, "created": "2026-11-21T06:57:05.123456789Z",
     "operation": "PUT", "size": 4, "value": "text"}

`value_base64` replaces `value` if that is not UTF-8. Revisions and times are informative: an import assigns
new ones, in the same order.
"""

import base64
import binascii
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, TextIO

from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput
from jsctl.jetstream.kv.codec import PLAIN, Codec
from jsctl.jetstream.kv.entry import DELETE, PURGE, PUT, Entry
from jsctl.jetstream.kv.names import encode_key, is_pattern
from jsctl.jetstream.message.payload import decode_headers_field
from jsctl.jetstream.message.stdin import STDIN, LineSplitter, read_chunks
from jsctl.nats.subjects import is_subject


def parse_entry(record: Any, codec: Codec) -> Entry:
    """Parse the entry that a line describes; its key becomes the stored one. Raises BadInput."""
    if not isinstance(record, dict):
        raise BadInput("an entry must be a JSON object")
    key, operation = record.get("key"), record.get("operation", PUT)
    stored = encode_key(key, codec) if isinstance(key, str) else ""
    if not isinstance(key, str) or not is_subject(stored) or is_pattern(stored):
        raise BadInput(f"{key!r} is not a valid key{' for ' * bool(codec)}{' '.join(codec.flags)}")
    if operation == "DEL":  # as in the header of a marker
        operation = DELETE
    if operation not in (PUT, DELETE, PURGE):
        raise BadInput(f"{operation!r} is not a valid operation", f"use one of {PUT}, {DELETE}, {PURGE}")
    ttl = record.get("ttl", "")
    try:
        if not isinstance(ttl, str):
            raise TypeError
        headers = decode_headers_field(record)
    except (TypeError, AttributeError, ValueError):
        raise BadInput(f"the ttl or the headers of key {key} cannot be read") from None
    return Entry(stored, _decode_value(key, record), 0, "", operation, ttl=ttl, headers=headers)


def _decode_value(key: str, record: dict[str, Any]) -> bytes:
    try:
        if "value_base64" in record:
            return base64.b64decode(record["value_base64"], validate=True)
        value = record.get("value", "")
        if isinstance(value, str):
            return value.encode()
    except (binascii.Error, TypeError, ValueError):
        pass
    raise BadInput(f"the value of key {key} cannot be read")


async def read_lines(path: str, stdin: TextIO) -> AsyncGenerator[list[bytes], None]:
    """Yield the lines of a file in groups; of stdin for `-`. Raises BadInput."""
    splitter = LineSplitter("stdin" if path == STDIN else path)
    async for chunk in read_chunks(path, stdin):
        yield splitter.feed(chunk)
    yield splitter.end()


async def read_entries(path: str, stdin: TextIO, codec: Codec = PLAIN) -> AsyncGenerator[list[Entry], None]:
    """Yield the entries of a file of JSON lines in groups; of stdin for `-`. Raises BadInput."""
    number, name = 0, "stdin" if path == "-" else path
    async with aclosing(read_lines(path, stdin)) as groups:
        async for lines in groups:
            entries = []
            for line in lines:
                number += 1
                if line.strip():
                    entries.append(_parse_line(line, f"{name} line {number}", codec))
            yield entries


def _parse_line(line: bytes, place: str, codec: Codec) -> Entry:
    try:
        return parse_entry(parse_json(line), codec)
    except BadInput as error:
        raise BadInput(f"{place}: {error.message}", error.hint) from None
    except ValueError:
        raise BadInput(f"{place} is not JSON", "use a file that jsctl kv export wrote") from None
