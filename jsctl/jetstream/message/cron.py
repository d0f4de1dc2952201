"""When schedules run: `@at`, `@every`, and six fields of cron with the server's rules (ADR-51; nats-server:
server/cron.go, server/scheduler.go)."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from jsctl.base.units import SECOND, parse_duration, parse_time_ns
from jsctl.errors import BadInput

AT, EVERY = "@at ", "@every "

_NAMED = {
    **dict.fromkeys(("@yearly", "@annually"), "0 0 0 1 1 *"),
    "@monthly": "0 0 0 1 * *",
    "@weekly": "0 0 0 * * 0",
    **dict.fromkeys(("@daily", "@midnight"), "0 0 0 * * *"),
    "@hourly": "0 0 * * * *",
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = (
    ("seconds", 0, 59, ()),
    ("minutes", 0, 59, ()),
    ("hours", 0, 23, ()),
    ("day of month", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("day of week", 0, 6, _DAYS),
)
_YEARS = 5  #: that the server looks ahead


class _Field(NamedTuple):
    """The values of a field. is_open: whether it is `*`, without steps."""

    values: frozenset[int]
    is_open: bool


def find_zone(name: str) -> tzinfo:
    """Return a time zone by its name; UTC for none. Raises BadInput."""
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadInput(f"{name!r} is not a time zone", "use one such as Europe/Amsterdam") from None


def list_runs(pattern: str, zone: str, after: int) -> Iterator[int]:
    """Yield the times (ns since 1970) at which a schedule runs after a time, in order; none for an `@at` that
    is over. zone: of its cron fields; empty for UTC. Raises BadInput for a pattern that servers refuse."""
    if zone and pattern.startswith("@") and pattern not in _NAMED:
        raise BadInput(f"a time zone is for cron fields, not for {pattern.partition(' ')[0]}")
    if pattern.startswith(AT):
        if (time := _parse(pattern, AT)) > after:
            yield time
        return
    if pattern.startswith(EVERY):
        if (step := _parse(pattern, EVERY)) < SECOND:
            raise BadInput(f"{pattern!r} must be at least 1s")
        after = round(after / SECOND) * SECOND
        while True:
            after += step
            yield after
    fields, place = _parse_fields(pattern), find_zone(zone)
    second = after // SECOND
    while (found := _find_next(fields, place, second)) is not None:
        second = found
        yield second * SECOND


def _parse(pattern: str, prefix: str) -> int:
    text = pattern.removeprefix(prefix)
    try:
        return parse_time_ns(text) if prefix == AT else parse_duration(text)
    except ValueError:
        raise BadInput(f"{pattern!r} is not a valid schedule") from None


def _parse_fields(pattern: str) -> list[_Field]:
    words = _NAMED.get(pattern, pattern).split()
    if len(words) != len(_FIELDS):
        hint = "use seconds, minutes, hours, day of month, month, day of week: '0 30 8 * * mon-fri'"
        raise BadInput(f"{pattern!r} has {len(words)} fields, not 6", hint)
    return [_parse_field(word, *field) for word, field in zip(words, _FIELDS, strict=True)]


def _parse_field(text: str, label: str, low: int, high: int, names: tuple[str, ...]) -> _Field:
    values: set[int] = set()
    is_open = False
    for part in filter(None, text.split(",")):
        span, slash, step_text = part.partition("/")
        first, dash, last = span.partition("-")
        try:
            step = int(step_text) if slash else 1
            if first in ("*", "?"):  # servers read *-3 as *
                start, end = low, high
                is_open = is_open or step == 1
            else:
                start = _parse_value(first, low, names)
                end = _parse_value(last, low, names) if dash else high if slash else start
            if not (low <= start <= end <= high and step > 0):
                raise ValueError
        except ValueError:
            raise BadInput(f"{part!r} is not valid for the {label}", f"use {low} to {high}") from None
        values.update(range(start, end + 1, step))
    return _Field(frozenset(values), is_open)


def _parse_value(text: str, low: int, names: tuple[str, ...]) -> int:
    return names.index(text.lower()) + low if text.lower() in names else int(text)


def _find_next(fields: list[_Field], zone: tzinfo, after: int) -> int | None:
    """Return the next second since 1970 that matches; None if there is none within _YEARS.

    It is looked for as servers do, by days, hours and minutes from the first that is whole: that makes a
    difference where a zone changes its clocks by half an hour.
    """
    seconds, minutes, hours, days, months, weekdays = fields
    second, is_whole = after + 1, False
    limit = datetime.fromtimestamp(second, zone).year + _YEARS
    while (local := datetime.fromtimestamp(second, zone)).year <= limit:
        is_day = local.day in days.values
        is_weekday = local.isoweekday() % 7 in weekdays.values
        matches = is_day and is_weekday if days.is_open or weekdays.is_open else is_day or is_weekday
        if local.month not in months.values or not matches:
            midnight = local.replace(hour=0, minute=0, second=0, fold=0) + timedelta(days=1)
            second, is_whole = int(midnight.timestamp()), True
        elif local.hour not in hours.values:
            second += 3600 if is_whole else 3600 - local.minute * 60 - local.second
            is_whole = True
        elif local.minute not in minutes.values:
            second += 60 if is_whole else 60 - local.second
            is_whole = True
        elif local.second not in seconds.values:
            second += 1
        else:
            return second
    return None
