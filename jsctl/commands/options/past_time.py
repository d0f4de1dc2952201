"""Flags that take a time in the past or how long ago it was, such as --since."""

from datetime import datetime

from jsctl.base.units import format_rfc3339, parse_past_time, seconds_to_ns, to_datetime
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json


def parse_time_flag(env: Env, flag: str, text: str | None) -> datetime | None:
    """Parse a time, or how long ago it was (7d), as a datetime in UTC. None for an empty text. Raises
    BadInput.
    """
    return to_datetime(parse_time_flag_ns(env, flag, text)) if text else None


def parse_time_flag_ns(env: Env, flag: str, text: str) -> int:
    """Parse a time, or how long ago it was, to the nanosecond. Returns ns since 1970. Raises BadInput."""
    try:
        return parse_past_time(text, seconds_to_ns(env.clock()))
    except ValueError:
        hint = "write 7d for 7 days ago, 2026-11-21, or 2026-11-21T06:57:05Z"
        raise BadInput(f"{flag} {text!r} is not a time", hint) from None


def build_start_since(env: Env, span: int) -> Json:
    """Return the delivery policy of a consumer that starts `span` ns ago."""
    start = seconds_to_ns(env.clock()) - span
    return {"deliver_policy": "by_start_time", "opt_start_time": format_rfc3339(start)}
