"""Counters: numbers of any size in streams, one a subject, summed over their sources (ADR-49).

A number is text throughout, as servers write it: `{"val": "18446744073709551616"}`.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from functools import partial
from typing import NamedTuple

from jsctl import registry
from jsctl.base.command_lines import build_line
from jsctl.base.json_text import parse_json
from jsctl.errors import ApiError, BadInput, JsctlError, MissingName, NoResponders
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message.newest import fetch_newest, fetch_newest_messages
from jsctl.jetstream.message.publish import parse_ack
from jsctl.jetstream.message.receive import Receiver, receive_stored
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.error_codes import ErrorCode
from jsctl.nats.headers import encode_headers, find_header
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.subjects import matches, validate_subject

_INCREMENT, _SOURCES = "Nats-Incr", "Nats-Counter-Sources"
_DIGITS = 4000
"""Maximum number of digits that Python converts to a number."""


class Counter(NamedTuple):
    """A counter. increment: the last change of its value. sources: the parts of the value that come from
    other streams, by stream and by subject there."""

    stream: str
    subject: str
    value: str
    increment: str
    sequence: int
    time: str
    sources: Mapping[str, Mapping[str, str]]

    @property
    def own_part(self) -> str | None:
        """The part of the value that was counted in this stream; None without sources, or for numbers that
        are too long to calculate with."""
        parts = [value for by_subject in self.sources.values() for value in by_subject.values()]
        if not parts or any(len(part) > _DIGITS for part in (self.value, *parts)):
            return None
        return str(int(self.value) - sum(map(int, parts)))


def parse_amount(text: str) -> str:
    """Parse a whole number; return it in the form that servers accept. Raises BadInput."""
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise BadInput(f"{text!r} is not a whole number", "use one such as 5 or -12")
    digits = text.lstrip("+-").lstrip("0") or "0"
    return f"-{digits}" if text.startswith("-") and digits != "0" else digits


def _validate_counter(subject: str) -> None:
    """Raise BadInput for what is not the subject of one counter."""
    if any(token in ("*", ">") for token in subject.split(".")):
        line = build_line("counter list", subject)
        raise BadInput(f"{subject!r} contains a wildcard", f"name one counter; {line} lists those that match")
    validate_subject(subject)


def negate(amount: str) -> str:
    """Return the amount with the opposite sign."""
    if amount.startswith("-"):
        return amount[1:]
    return amount if amount == "0" else f"-{amount}"


def decode_counter(message: Message) -> Counter:
    """Decode the counter in a stored message. Raises JsctlError if the message holds none."""
    try:
        value = _parse_number(parse_json(message.data)["val"])
        text = find_header(message.header_block, _SOURCES)
        parts = {
            str(stream): {str(subject): _parse_number(part) for subject, part in by_subject.items()}
            for stream, by_subject in (parse_json(text) if text else {}).items()
        }
    except (ValueError, TypeError, KeyError, AttributeError):
        raise _build_broken_error(message) from None
    stream = message.metadata.stream if message.metadata else ""
    increment = find_header(message.header_block, _INCREMENT)
    return Counter(stream, message.subject, value, increment, message.sequence, message.timestamp, parts)


def _build_broken_error(message: Message) -> JsctlError:
    names = (*([message.metadata.stream] if message.metadata else ()), str(message.sequence))
    return JsctlError(
        f"the newest message on {message.subject} holds no counter",
        f"{build_line('stream get', *names)} shows it, and {build_line('stream rmm', *names)} removes it: the"
        " counter continues from the value before",
    )


def _parse_number(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"-?[0-9]+", value):
        raise ValueError("not a number as text")
    return value


async def list_names(api: Api) -> list[str]:
    """Return the subjects of all counters."""
    return sorted(
        {
            subject
            for info in await _fetch_counting_streams(api)
            for subject in await _list_subjects(api, info, ">")
        }
    )


async def _fetch_counting_streams(api: Api) -> list[Json]:
    """Fetch the infos of all streams that hold counters, sorted by name."""
    collected = await streams.collect(
        api, lambda info: info if info["config"].get("allow_msg_counter") else None, subject=""
    )
    return [collected.items[name] for name in sorted(collected.items)]


async def _list_subjects(api: Api, info: Json, pattern: str) -> list[str]:
    return sorted(await streams.count_subjects(api, info["config"]["name"], pattern))


async def _list_holders(api: Api, subject: str) -> list[str]:
    """Return the names of the streams that hold counters on a subject, wherever these were counted."""
    infos = await _fetch_counting_streams(api)
    held = await asyncio.gather(*(_list_subjects(api, info, subject) for info in infos))
    return [str(info["config"]["name"]) for info, subjects in zip(infos, held, strict=True) if subjects]


async def find_stream(api: Api, subject: str, name: str) -> Json:
    """Fetch the info of the stream that counts a subject or holds its counters. name: its name, if known.

    Raises MissingName, BadInput when several streams could be meant, JsctlError for a stream without
    counters.
    """
    if not name:
        # The server finds streams by the subjects they listen to, which leaves out what sources bring.
        names = await streams.list_names(api, subject) or await _list_holders(api, subject)
        if not names:
            raise build_missing_error(api, subject)
        if len(names) > 1:
            raise BadInput(f"{subject} is in {', '.join(names)}", "name one with --stream")
        name = names[0]
    info = await streams.fetch_info(api, name)
    if not info["config"].get("allow_msg_counter"):
        hint = "jsctl stream add --allow-counter creates a stream that can"
        raise JsctlError(f"stream {name}, which stores {subject}, cannot hold counters", hint)
    return info


async def get(api: Api, subject: str, stream: str = "") -> Counter:
    """Fetch a counter. Raises MissingName for one that was never changed, and what `find_stream` raises."""
    _validate_counter(subject)
    info = await find_stream(api, subject, stream)
    config = info["config"]
    message = await fetch_newest(api, config["name"], subject, direct=bool(config.get("allow_direct")))
    if message is None:
        raise build_missing_error(api, subject)
    return decode_counter(message)


async def add(api: Api, subject: str, amount: str, stream: str = "") -> tuple[str, str]:
    """Add an amount, which may be negative, to a counter; return its new value and the stream that counted.

    amount: from `parse_amount`. Raises ApiError, NoResponders, and what `find_stream` raises.
    """
    name = str((await _find_counting(api, subject, stream))["name"])
    # Servers refuse the header for an expected stream here: only the answer shows which one counted.
    block = encode_headers([(_INCREMENT, amount if amount.startswith("-") else f"+{amount}")])
    message = OutgoingMessage(subject, b"", "", block)
    api.show(f">>> {subject}", f"{_INCREMENT}: {amount}")
    try:
        ack = parse_ack(subject, await api.connection.request_message(message, timeout=api.timeout))
    except ApiError as error:
        if error.err_code == ErrorCode.MESSAGE_COUNTER_BROKEN:
            await get(api, subject, name)  # raises why
        raise
    except NoResponders:
        hint = "connect to the domain of the stream"
        raise NoResponders(f"{subject} does not reach stream {name} from here", hint) from None
    return str(ack.get("val", "")), str(ack.get("stream") or name)


async def estimate_addition(api: Api, subject: str, amount: str, stream: str) -> tuple[str, str, str | None]:
    """Return what `add` would do: the stream, the present value, and the new one, which is None when it has
    too many digits to calculate. Raises what `add` raises."""
    config = await _find_counting(api, subject, stream)
    name, direct = str(config["name"]), bool(config.get("allow_direct"))
    message = await fetch_newest(api, name, subject, direct=direct)
    value = decode_counter(message).value if message else "0"
    if any(len(number) > _DIGITS for number in (value, amount)):
        return name, value, None
    return name, value, str(int(value) + int(amount))


async def _find_counting(api: Api, subject: str, stream: str) -> Json:
    """Return the configuration of the stream that receives the changes of a counter. Raises JsctlError."""
    _validate_counter(subject)
    config: Json = (await find_stream(api, subject, stream))["config"]
    if not any(matches(stream_subject, subject) for stream_subject in config.get("subjects") or []):
        raise JsctlError(
            f"stream {config['name']} does not store what is published to {subject}",
            "its counters come from other streams; change the counter there",
        )
    return config


async def read_all(
    api: Api, pattern: str = "", stream: str = ""
) -> AsyncGenerator[list[Counter | JsctlError], None]:
    """Yield the counters whose subjects match, of one stream or of all, in pages sorted by subject; for one
    that is broken, why.

    With a pattern or a stream it raises what `find_stream` raises.
    """
    if stream or pattern:
        infos = [await find_stream(api, pattern or ">", stream)]
    else:
        infos = await _fetch_counting_streams(api)
    for info in infos:
        subjects = await _list_subjects(api, info, pattern or ">")
        async with aclosing(fetch_newest_messages(api, info, subjects)) as pages:
            async for page in pages:
                yield [_decode_or_explain(message) for message in page]


def _decode_or_explain(message: Message) -> Counter | JsctlError:
    try:
        return decode_counter(message)
    except JsctlError as error:
        return error


def watch(api: Api, info: Json, pattern: str, *, new: bool, limit: int) -> Receiver:
    """Return a receiver of counters as they change. new: leave out their present values. limit: number of
    messages, 0 for no end."""
    start = {"deliver_policy": "new" if new else "last_per_subject"}
    return receive_stored(api, info["config"], [pattern], start, limit=limit)


def build_missing_error(api: Api, subject: str) -> MissingName:
    """Return the error for a counter that does not exist."""
    text = registry.find_noun("counter").missing(subject)
    return MissingName(ErrorCode.NO_MESSAGE_FOUND, text, subject, partial(list_names, api))
