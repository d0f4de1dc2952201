"""Bytes, durations (ns) and times: how they are read and how they are shown."""

import re
from datetime import UTC, datetime

NS = 1
US = 1_000
MS = 1_000_000
SECOND = 1_000_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

# A month is 30 days and a year 365, as in the `nats` tool (jsm.go ParseDuration).
_UNITS = {
    "ns": NS, "us": US, "µs": US, "μs": US, "ms": MS, "s": SECOND, "m": MINUTE, "h": HOUR,
    "d": DAY, "D": DAY, "w": 7 * DAY, "W": 7 * DAY, "M": 30 * DAY, "y": 365 * DAY, "Y": 365 * DAY,
}  # fmt: skip
# Patterns, not compiled ones: `re` compiles at the first use and keeps them.
_PART = r"(\d+)(?:\.(\d+))?(ns|us|µs|μs|ms|[smhdDwWMyY])"
_BYTES = r"(\d+)\s*([A-Za-z]*)"
_SHIFT = {"": 0, "b": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
_MAX_INT64 = (1 << 63) - 1


def parse_duration(text: str) -> int:
    """Nanoseconds from `1y2M3d4h5m6s7ms`, `-1h`, `0`. Raises ValueError."""
    body = text.strip()
    negative = body.startswith("-")
    body = body[1:] if body[:1] in ("-", "+") else body
    if body == "0":
        return 0
    total, at = 0, 0
    for part in re.finditer(_PART, body):
        if part.start() != at:
            break
        whole, fraction, unit = part.groups()
        factor = _UNITS[unit]
        total += int(whole) * factor
        if fraction:
            total += int(fraction) * factor // 10 ** len(fraction)
        at = part.end()
    if at == 0 or at != len(body):
        raise ValueError(f"{text!r} is not a duration such as 30s, 2h or 1y6M")
    if total > _MAX_INT64:
        raise ValueError(f"{text!r} is longer than 292 years")
    return -total if negative else total


def parse_bytes(text: str) -> int:
    """Bytes from `1GB`, `1GiB`, `512`, `-1` (unlimited). Units are powers of 1024, as in the
    `nats` tool. Raises ValueError."""
    body = text.strip()
    if body.startswith("-"):
        if body != "-1":
            raise ValueError(f"{text!r} is no size; -1 means unlimited")
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


def parse_time(text: str) -> datetime:
    """A time from RFC 3339 with up to nanoseconds (kept to the microsecond). Raises ValueError."""
    moment = datetime.fromisoformat(text.strip())
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def format_count(value: int) -> str:
    """`200,004`."""
    return f"{value:,}"


def format_bytes(value: int) -> str:
    """`45 B`, `82 KiB`, `1.1 GiB`: one decimal below ten, none above."""
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
    """A span of time for people: `937ms`, `2.17s`, `2m0s`, `1h0m0s`, `1d2h0m0s`, `1y0d0h0m0s`."""
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
    years, rest = divmod(seconds, 365 * 86400)
    days, rest = divmod(rest, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, left = divmod(rest, 60)
    shown = ""
    for count, unit in ((years, "y"), (days, "d"), (hours, "h"), (minutes, "m"), (left, "s")):
        if shown or count or unit == "s":
            shown += f"{count}{unit}"
    return shown


def exact_duration(value: int) -> str:
    """A configured span, nothing rounded away: `2m0s`, `30s`, `1.5s`, `100ms`, `365d`."""
    if value < 0:
        return "-" + exact_duration(-value)
    if value == 0:
        return "0s"
    if value < SECOND:
        for unit, name in ((MS, "ms"), (US, "µs"), (NS, "ns")):
            if value >= unit:
                return _trimmed(value, unit) + name
    if value < MINUTE:
        return _trimmed(value, SECOND) + "s"
    seconds = _trimmed(value % MINUTE, SECOND) + "s"
    head = format_duration(value - value % MINUTE)
    return head.removesuffix("0s") + seconds


def _trimmed(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    if not rest:
        return str(whole)
    return f"{whole}.{str(rest).zfill(len(str(unit)) - 1)}".rstrip("0")


def format_time(moment: datetime) -> str:
    """Local time to the second: `2026-11-21 06:57:05`."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")
