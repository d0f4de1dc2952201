"""The options of the data source that say which part of each stream is read."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, TypeVar, cast

from jsctl.base.json_text import parse_json
from jsctl.base.units import MS, parse_duration, parse_time, to_datetime
from jsctl.errors import BadInput
from jsctl.spark.source.option_values import OptionValues

Offset = Literal["earliest", "latest"] | int
Time = datetime | timedelta

T = TypeVar("T")

_OF_KAFKA = {-1: "latest", -2: "earliest"}
"""The meaning of negative offsets in Kafka's JSON."""


class ReadRange(NamedTuple):
    """The part of a stream that is read.

    start, end: sequences, the end exclusive; a negative start counts back from the end. start_time, end_time:
    the first message at or after; a span is that long ago.
    """

    start: Offset
    end: Offset
    start_time: Time | None = None
    end_time: Time | None = None


def parse_ranges(
    values: OptionValues, streams: Sequence[str], streaming: bool | None
) -> tuple[ReadRange, dict[str, ReadRange]]:
    """Return the range of streams that no option names, and those of the streams that are named in JSON.

    streams: names and patterns of names. streaming: as in `parse_read_options`. Raises BadInput.
    """
    if streaming and (values.get_text("endingOffsets") or values.get_text("endingTimestamp")):
        raise BadInput(
            "endingOffsets and endingTimestamp are only for spark.read",
            "remove them: a streaming query has no end",
        )
    for name in ("starting", "ending"):
        if values.get_text(f"{name}Offsets") and values.get_text(f"{name}Timestamp"):
            raise BadInput(
                f"options {name}Offsets and {name}Timestamp cannot be used together", "use only one"
            )
    start, starts = _parse(values, "startingOffsets", streams, _parse_start)
    end, ends = _parse(values, "endingOffsets", streams, _parse_offset)
    start_time, start_times = _parse(values, "startingTimestamp", streams, _parse_time)
    end_time, end_times = _parse(values, "endingTimestamp", streams, _parse_time)
    names_several = len(streams) > 1 or "*" in streams[0]
    if names_several and any(isinstance(offset, int) and offset > 0 for offset in (start, end)):
        raise BadInput(
            "a sequence is valid in one stream only, but streams names several",
            'use JSON such as {"ORDERS": 23}, or earliest, latest, -1000, startingTimestamp',
        )
    default = ReadRange(
        start or ("latest" if streaming else "earliest"), end or "latest", start_time, end_time
    )
    ranges = {
        name: ReadRange(
            starts.get(name, default.start),
            ends.get(name, default.end),
            start_times.get(name, default.start_time),
            end_times.get(name, default.end_time),
        )
        for name in dict.fromkeys((*starts, *ends, *start_times, *end_times))
    }
    for each in (default, *ranges.values()):
        if streaming is False and each.start == "latest":
            raise BadInput(
                "startingOffsets latest is only for spark.readStream",
                "use earliest, a sequence, or -1000 for the last thousand",
            )
        first, last = each.start_time, each.end_time
        if isinstance(first, datetime) and isinstance(last, datetime) and first >= last:
            raise BadInput("startingTimestamp must be before endingTimestamp")
    return default, ranges


def compile_name_pattern(name: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern of stream names."""
    return re.compile(re.escape(name).replace(r"\*", ".*"))


def _parse(
    values: OptionValues, name: str, streams: Sequence[str], parse: Callable[[str, str], T]
) -> tuple[T | None, dict[str, T]]:
    """Return an option's value for all streams, None if there is none, and those by stream."""
    text = values.get_text(name)
    if not text.startswith("{"):
        return (parse(name, text) if text else None), {}
    by_stream = _parse_object(name, text)
    for stream, value in by_stream.items():
        if not any(compile_name_pattern(pattern).fullmatch(stream) for pattern in streams):
            raise BadInput(
                f"{name} names stream {stream}, which this query does not read; it reads {', '.join(streams)}"
            )
        if isinstance(value, dict | list):
            raise BadInput(f"{name} of {stream} is {json.dumps(value)}: a stream has no partitions", _HINT)
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise BadInput(f"{name} of {stream} is {json.dumps(value)}", _HINT)
        if name.endswith("Offsets") and isinstance(value, int) and value in _OF_KAFKA:
            raise BadInput(
                f"{name} of {stream} is {value}, which would be {_OF_KAFKA[value]} in Kafka",
                f'write "{_OF_KAFKA[value]}"',
            )
    return None, {stream: parse(name, str(value)) for stream, value in by_stream.items()}


_HINT = 'use one value for each stream, such as {"ORDERS": 23}'


def _parse_object(name: str, text: str) -> Mapping[str, Any]:
    try:
        return cast(Mapping[str, Any], parse_json(text))
    except ValueError as error:
        raise BadInput(f"{name} is not valid JSON: {error}", _HINT) from None


def _parse_start(name: str, text: str) -> Offset:
    """Parse a first offset; a negative one counts back from the end."""
    if text.startswith("-") and text[1:].isdecimal() and int(text) < 0:
        return int(text)
    return _parse_offset(name, text, ", or -1000 for the last thousand")


def _parse_offset(name: str, text: str, hint: str = "") -> Offset:
    if text in ("earliest", "latest"):
        return cast(Offset, text)
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise BadInput(f"{name} {text!r} is not earliest, latest or a sequence{hint}")


def _parse_time(name: str, text: str) -> Time:
    """Parse a time, or a duration before now, such as -10m."""
    try:
        if text.startswith("-"):
            return timedelta(microseconds=parse_duration(text[1:]) / 1000)
        if text.isdecimal() and len(text) > 8:  # as Kafka's: ms since 1970
            return to_datetime(int(text) * MS)
        return parse_time(text)
    except (ValueError, OverflowError, OSError):
        hint = "write 2026-11-21T06:57:05Z, milliseconds since 1970, or -10m for ten minutes ago"
        raise BadInput(f"{name} {text!r} is not a time", hint) from None
