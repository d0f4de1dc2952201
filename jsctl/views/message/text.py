"""Messages as people see them, whatever the verb. The text is not cleaned yet: the writer does that."""

import json
import re
from collections.abc import Sequence

from jsctl.base.command_lines import PLAIN
from jsctl.base.json_text import parse_json
from jsctl.jetstream.message import payload
from jsctl.nats.headers import Headers, parse_headers
from jsctl.nats.message import Message


def content(message: Message, *, headers_only: bool = False, pretty: bool = False) -> str:
    """Return headers, an empty line, payload, an empty line."""
    head = header_block_lines(message.header_block) + "\n" if message.header_block else ""
    if headers_only:
        return head
    return f"{head}{body(message.data, pretty)}\n\n"


def header_lines(headers: Headers) -> str:
    """Return one header a line, whatever it holds."""
    return "".join(f"{name}: {value}".replace("\n", "\\n") + "\n" for name, value in headers)


def header_block_lines(block: bytes) -> str:
    """Return the `header_lines` of a block."""
    if plain := _match_plain(block):
        return str(plain[1], "ascii").replace("\r\n", "\n")
    return header_lines(parse_headers(block))


def heads(blocks: Sequence[bytes]) -> tuple[list[bytes], bool]:
    """Return what `content` shows of several blocks of headers, in half of the time where all are plain; and
    whether nothing of it is to be cleaned."""
    if not any(blocks):
        return [b""] * len(blocks), True
    joined = b"\0" + b"\0".join(blocks)
    if _match_all_plain(joined):
        text = joined.replace(b"\0NATS/1.0\r\n", b"\0").replace(b"\r\n", b"\n")
        return text.split(b"\0")[1:], True
    texts = [header_block_lines(block) + "\n" if block else "" for block in blocks]
    return [text.encode(errors="surrogateescape") for text in texts], False


_PLAIN = rb"NATS/1\.0\r\n((?:[!-9;-~]++: [!-~]++(?: [!-~]++)*+\r\n)++)\r\n"
_match_plain = re.compile(_PLAIN).fullmatch
"""Matches a block whose lines can be shown as they are: nearly all, and six times as fast."""
_match_all_plain = re.compile(rb"(?:\0(?:%b)?+)++" % _PLAIN).fullmatch


def body(data: bytes, pretty: bool = False) -> str:
    """Return a payload without the line end that closes it. pretty: indent JSON."""
    if not data:
        return "nil body"
    if pretty:
        try:
            return json.dumps(parse_json(data), indent=2, ensure_ascii=False)
        except ValueError:
            pass
    return payload.format_payload(data).removesuffix("\n")


def bodies(payloads: Sequence[bytes]) -> tuple[list[bytes], bool]:
    """Return the `body` of several payloads, in a fifth of the time where all are clean; and whether they
    are."""
    if is_clean(payloads):
        return [data.removesuffix(b"\n") if data else b"nil body" for data in payloads], True
    return [body(data).encode() for data in payloads], False


def is_clean(texts: Sequence[bytes]) -> bool:
    """Return whether nothing of some texts is to be cleaned, or shown as bytes."""
    joined = b"\n".join(texts)  # not without line ends, as two halves of a character would be one
    if joined.isascii():
        return not joined.translate(None, PLAIN)
    try:
        return str(joined, "utf-8").replace("\n", "").replace("\t", "").isprintable()
    except UnicodeDecodeError:
        return False


def raw_line(data: bytes, *, pretty: bool = False) -> str:
    """Return what `--raw` shows of a payload on a terminal."""
    return body(data, pretty) + "\n" if data else "\n"


def raw_bytes(data: bytes, exact: bool) -> bytes:
    """Return what `--raw` writes of a payload into a pipe: a line; exact: the payload and nothing else."""
    return data if exact or data.endswith(b"\n") else data + b"\n"
