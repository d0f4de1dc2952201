"""Parsing and formatting of sizes, durations and times.

Durations are nanoseconds. Times are nanoseconds since 1970 (as exact as the server has them), aware datetimes
where a library needs them, or RFC 3339 texts as the server writes them. All of jsctl parses and formats them
here.

People write and read local time: a text without a zone is local, and texts for people name the zone.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache

Time = int | datetime | str
"""ns since 1970, a datetime (UTC where it has no zone), or an RFC 3339 text (local where it has none)."""

NS = 1
US = 1_000
MS = 1_000_000
SECOND = 1_000_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
YEAR = 365 * DAY

# A month is 30 days and a year 365, as in the `nats` tool (jsm.go ParseDuration).
_UNITS = {"ns": NS, "us": US, "µs": US, "μs": US, "ms": MS, "s": SECOND, "m": MINUTE, "h": HOUR}
_UNITS |= {"d": DAY, "D": DAY, "w": 7 * DAY, "W": 7 * DAY, "M": 30 * DAY, "y": YEAR, "Y": YEAR}
# Texts of patterns: `re` compiles them at their first use and caches them.
_PART = r"([0-9]+)(?:\.([0-9]+))?(ns|us|µs|μs|ms|[smhdDwWMyY])"
_BYTES = r"([0-9]+)\s*([A-Za-z]*)"
_SHIFT = {"": 0, "b": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
_MAX_INT64 = (1 << 63) - 1
_UNSET_TIMES = ("0001-01-01", "1970-01-01T00:00:00Z")

_MAX_LENGTH = 200
"""Maximum number of characters of a duration, size or time."""

NEVER = -1
"""The age of an event that has not happened."""


def parse_duration(text: str) -> int:
    """Parse a duration, such as `1y2M3d4h5m6s7ms`, `-1h` or `0`. Returns ns. Raises ValueError."""
    body = _check_length(text)
    negative = body.startswith("-")
    body = body[1:] if body[:1] in ("-", "+") else body
    if body == "0":
        return 0
    total, position = 0, 0
    for part in re.finditer(_PART, body):
        if part.start() != position:
            break
        whole, fraction, unit = part.groups()
        factor = _UNITS[unit]
        total += int(whole) * factor
        if fraction:
            total += int(fraction) * factor // 10 ** len(fraction)
        position = part.end()
    if position == 0 or position != len(body):
        raise ValueError(f"{text!r} is not a duration such as 30s, 2h or 1y6M")
    if total > _MAX_INT64:
        raise ValueError(f"{text!r} is longer than 292 years")
    return -total if negative else total


def parse_bytes(text: str) -> int:
    """Parse a size, such as `1GB`, `1GiB`, `512` or `-1` (unlimited). Returns bytes.

    Units are powers of 1024, as in the `nats` tool. Raises ValueError.
    """
    body = _check_length(text)
    if body.startswith("-"):
        if body != "-1":
            raise ValueError(f"{text!r} is not a size; -1 means unlimited")
        return -1
    match = re.fullmatch(_BYTES, body)
    if match:
        unit = match[2].lower()
        for ending in ("ib", "b"):
            if len(unit) > len(ending) and unit.endswith(ending):
                unit = unit[: -len(ending)]
                break
        if unit in _SHIFT:
            size = int(match[1]) << _SHIFT[unit]
            if size > _MAX_INT64:
                raise ValueError(f"{text!r} is larger than a signed 64 bit number")
            return size
    raise ValueError(f"{text!r} is not a size such as 512, 10MB or 1GiB")


def _check_length(text: str) -> str:
    """Return a text without surrounding blanks. Raises ValueError for one too long to be a number."""
    if len(text) > _MAX_LENGTH:
        raise ValueError(f"{text[:20]!r}... has {len(text):,} characters, at most {_MAX_LENGTH} are valid")
    return text.strip()


def parse_time(text: str) -> datetime:
    """Parse an RFC 3339 time, local without a zone; digits below the microsecond are cut off. Raises
    ValueError.
    """
    try:
        time = datetime.fromisoformat(_check_length(text))
        return time if time.tzinfo else time.astimezone()
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is not a time such as 2026-11-21T06:57:05Z") from None


def parse_time_ns(text: str) -> int:
    """Parse an RFC 3339 time with up to nine digits after the second, local without a zone.

    Returns ns since 1970. Raises ValueError.
    """
    zone = "Z"
    text = _check_length(text)
    if text.endswith("Z"):
        whole, dot, fraction = text[:-1].partition(".")
    else:
        match = re.fullmatch(r"([^.]*?)(?:(\.)(\d*))?([+-]\d\d:?\d\d)?", text)
        whole, dot, fraction, zone = match.groups(default="") if match else (text, "", "", "")
    if dot and not (fraction.isdecimal() and len(fraction) <= 9):
        raise ValueError(f"{text!r} is not a time such as 2026-11-21T06:57:05.123456789Z")
    return _parse_second(whole + zone) * SECOND + int(fraction.ljust(9, "0"))


@lru_cache(64)  # messages of one second come together
def _parse_second(text: str) -> int:
    return int(parse_time(text).timestamp())


def parse_past_time(text: str, now: int) -> int:
    """Parse a time, or a duration (`1h`) before `now` (ns since 1970). Returns ns since 1970.

    Raises ValueError.
    """
    try:
        return now - parse_duration(text)
    except ValueError:
        return parse_time_ns(text)


def parse_future_time(text: str, now: int) -> int:
    """Parse a time, or a duration (`1h`) after `now` (ns since 1970). Returns ns since 1970.

    Raises ValueError.
    """
    try:
        return now + parse_duration(text)
    except ValueError:
        return parse_time_ns(text)


def read_known_time(text: str | None) -> str | None:
    """Return a time as the server wrote it; None if it is missing or one of the zero times that stand for
    never.
    """
    return None if not text or text.startswith(_UNSET_TIMES) else text


def to_ns(time: Time) -> int:
    """Return a time in ns since 1970. Raises ValueError for text that is not a time."""
    if isinstance(time, int):
        return time
    if isinstance(time, str):
        return parse_time_ns(time)
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    # Without the microseconds, for which a float is not exact enough.
    return int(time.replace(microsecond=0).timestamp()) * SECOND + time.microsecond * US


def to_datetime(time: Time) -> datetime:
    """Return a datetime in UTC; digits below the microsecond are cut off.

    Raises ValueError for text that is not a time.
    """
    if isinstance(time, int):
        seconds, remainder = divmod(time, SECOND)
        return _to_utc(seconds).replace(microsecond=remainder // US)
    time = parse_time(time) if isinstance(time, str) else time
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    try:
        return time.astimezone(UTC)
    except OverflowError:  # its zone leads out of year 1 or 9999
        return time.replace(tzinfo=UTC)


def seconds_to_ns(seconds: float) -> int:
    """Return the time of a clock in seconds, such as `env.clock`, in ns; exact to the microsecond, as the
    float is.
    """
    return round(seconds * 1e6) * US


def compute_age(since: str | None, now: Time | None) -> int:
    """Return ns from a time that the server wrote until `now`, 0 for a later time.

    NEVER (-1) when either time is missing, or the first is one of the server's zero times.
    """
    known = read_known_time(since)
    if known is None or now is None or now == "":
        return NEVER
    return max(0, to_ns(now) - parse_time_ns(known))


def truncate_to_seconds(span: int) -> int:
    """Return a duration without its fraction of a second. span: ns."""
    return span - span % SECOND


def format_count(value: int) -> str:
    """Format a number: `200,004`."""
    return f"{value:,}"


def pluralize(count: int, noun: str) -> str:
    """Format a count with its noun: `1 message`, `1,204 messages`, `2 replies`."""
    if count != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeou" else f"{noun}s"
    return f"{format_count(count)} {noun}"


def join_some(words: Iterable[object], limit: int = 5, separator: str = ", ") -> str:
    """Join the first words, and say how many there are besides: `a, b, c and 7 more`."""
    texts = [str(word) for word in words]
    joined, remaining = separator.join(texts[:limit]), len(texts) - limit
    return f"{joined}{separator.rstrip(', ')} and {format_count(remaining)} more" if remaining > 0 else joined


def format_bytes(value: int) -> str:
    """Format a size: `45 B`, `82 KiB`, `1.1 GiB`, with one decimal below ten and none above."""
    if value < 0:
        return "-" + format_bytes(-value)
    if value < 1024:
        return f"{value} B"
    size = float(value)
    for unit in ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB"):
        size /= 1024
        if size < 1023.5 or unit == "EiB":
            break
    return f"{size:.1f} {unit}" if round(size, 1) < 10 else f"{size:.0f} {unit}"


def format_duration(value: int) -> str:
    """Format a duration in ns for people: `937ms`, `2.17s`, `2m0s`, `1h0m0s`, `1d2h0m0s`, `1y0d0h0m0s`."""
    if value < 0:
        return "-" + format_duration(-value)
    if value == 0:
        return "0s"
    if value < MS:
        return f"{value // US}µs" if value >= US else f"{value}ns"
    if value < SECOND:
        return f"{value // MS}ms"
    if value < MINUTE:
        return f"{value // (SECOND // 100) / 100:.2f}s"
    seconds = value // SECOND
    years, remainder = divmod(seconds, 365 * 86400)
    days, remainder = divmod(remainder, 86400)
    hours, remainder = divmod(remainder, 3600)
    minutes, whole_seconds = divmod(remainder, 60)
    text = ""
    for count, unit in ((years, "y"), (days, "d"), (hours, "h"), (minutes, "m"), (whole_seconds, "s")):
        if text or count or unit == "s":
            text += f"{count}{unit}"
    return text


def format_exact_duration(value: int) -> str:
    """Format a configured duration in ns without rounding: `2m0s`, `30s`, `1.5s`, `100ms`, `365d`."""
    if value < 0:
        return "-" + format_exact_duration(-value)
    if value == 0:
        return "0s"
    if value < SECOND:
        for unit, name in ((MS, "ms"), (US, "µs"), (NS, "ns")):
            if value >= unit:
                return _format_fraction(value, unit) + name
    if value < MINUTE:
        return _format_fraction(value, SECOND) + "s"
    seconds = _format_fraction(value % MINUTE, SECOND) + "s"
    head = format_duration(value - value % MINUTE)
    return head.removesuffix("0s") + seconds


def _format_fraction(value: int, unit: int) -> str:
    whole, remainder = divmod(value, unit)
    if not remainder:
        return str(whole)
    return f"{whole}.{str(remainder).zfill(len(str(unit)) - 1)}".rstrip("0")


def format_age(value: int) -> str:
    """Format an age in ns: `2.17s`, `2m0s`, or `never` for NEVER."""
    return "never" if value < 0 else format_duration(value)


def format_time(time: Time) -> str:
    """Format a time as local time to the second with its zone, as `parse_time` reads it: `2026-11-21
    06:57:05+01:00`. Raises ValueError for text that is not a time.
    """
    if isinstance(time, str) and time.endswith("Z"):  # as servers write it
        try:
            return (
                _format_utc_text(time[:19] + "Z") if _is_rfc3339(time) else format_time(parse_time_ns(time))
            )
        except (ValueError, OverflowError):
            return format_time(parse_time(time))
    seconds = to_ns(parse_time(time) if isinstance(time, str) else time) // SECOND
    if not _FIRST_SECOND <= seconds <= _LAST_SECOND:  # as claims may have it
        return "after the year 9999" if seconds > 0 else "before the year 1"
    return _format_second(seconds) + _format_zone(seconds)


def format_time_us(time: int) -> str:
    """Format ns since 1970 as local time to the microsecond with its zone: `2026-11-21
    06:57:05.123456+01:00`.
    """
    seconds, remainder = divmod(time, SECOND)
    return f"{_format_second(seconds)}.{remainder // US:06d}{_format_zone(seconds)}"


def format_clock(time: Time) -> str:
    """Format the local time of day: `06:57:05`. Raises ValueError for text that is not a time."""
    return format_time(time)[11:19]


def format_server_time(text: str | None) -> str:
    """Format a time from the server as local time; return text that is not a time unchanged."""
    if not text:
        return "at an unknown time"
    try:
        return format_time(text)
    except ValueError:
        return text


def format_rfc3339(time: Time) -> str:
    """Format a time in UTC as the server writes it, without zeros at the end of the fraction:
    `2026-11-21T06:57:05.1234Z`. Raises ValueError for text that is not a time.
    """
    seconds, remainder = divmod(to_ns(time), SECOND)
    text = _format_utc_second(seconds)
    return f"{text}.{remainder:09d}".rstrip("0") + "Z" if remainder else text + "Z"


def format_rfc3339_local(time: int) -> str:
    """Format ns since 1970 as local time to the second with its zone: `2026-11-21T06:57:05+01:00`; that of
    UTC is Z, as everywhere else."""
    return _to_local(time // SECOND).isoformat().replace("+00:00", "Z")


def format_kitchen(time: int) -> str:
    """Format the local time of day of ns since 1970 in Go's "kitchen" format: `6:57AM`."""
    return _to_local(time // SECOND).strftime("%I:%M%p").lstrip("0")


_FIRST_SECOND = int(datetime.min.replace(tzinfo=UTC).timestamp())
_LAST_SECOND = int(datetime.max.replace(tzinfo=UTC, microsecond=0).timestamp())
"""The first and the last second that a datetime can hold, since 1970. Times from a server may lie beyond."""


def _to_utc(seconds: int) -> datetime:
    return datetime.fromtimestamp(max(_FIRST_SECOND, min(seconds, _LAST_SECOND)), UTC)


def _to_local(seconds: int) -> datetime:
    """Return seconds since 1970 in the local zone; in UTC where that would be before year 1 or after 9999."""
    try:
        return _to_utc(seconds).astimezone()
    except (ValueError, OverflowError):
        return _to_utc(seconds)


@lru_cache(64)  # messages of one second come together
def _format_second(seconds: int) -> str:
    return _to_local(seconds).isoformat(" ")[:19]


def _is_rfc3339(text: str) -> bool:
    """Return whether a text that ends with Z has its seconds at the usual place, and digits after them."""
    return len(text) == 20 or (20 < len(text) <= 30 and text[19] == "." and text[20:-1].isdecimal())


@lru_cache(64)
def _format_utc_text(second: str) -> str:
    return format_time(parse_time_ns(second))


@lru_cache(64)
def _format_utc_second(seconds: int) -> str:
    return _to_utc(seconds).isoformat()[:19]


@lru_cache(64)
def _format_zone(seconds: int) -> str:
    """Format the offset of the local zone from UTC at a time: `Z`, or `+01:00`."""
    zone = _to_local(seconds).isoformat()[19:]
    return "Z" if zone == "+00:00" else zone
