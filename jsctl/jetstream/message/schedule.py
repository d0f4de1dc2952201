"""Headers that tell a stream when to publish a message, and when to remove it (ADR-51, ADR-43)."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.base import units
from jsctl.errors import BadInput
from jsctl.nats.headers import Headers

_SCHEDULE, _TARGET = "Nats-Schedule", "Nats-Schedule-Target"
_TIMES = ("at", "after", "every", "cron")


class Schedule(NamedTuple):
    """The time at which a stream publishes a message that it stores.

    One of: after (ns), at (RFC 3339), every (ns), cron (an expression). dest: the subject to publish to.
    source: the subject whose last message is published in place of this one. message_ttl: ns until the stream
    removes the published message.
    """

    after: int | None = None
    at: str | None = None
    every: int | None = None
    cron: str | None = None
    dest: str | None = None
    source: str | None = None
    message_ttl: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is scheduled."""
        return self == Schedule()

    def build_headers(
        self,
        now: float,
        names: Iterable[str] = (),
        *,
        prefix: str = "--schedule-",
        may_lack_time: bool = False,
    ) -> Headers:
        """Return the headers of a scheduled message. Raises BadInput.

        now: seconds since the epoch. names: of headers that the message already has, which may set the time
        and the destination. prefix: of the flags that errors name.
        """
        if self.is_empty:
            return []
        present = {name.lower() for name in names}
        times = [name for name in _TIMES if getattr(self, name) is not None]
        if not self.dest and _TARGET.lower() not in present:
            raise BadInput("a schedule needs a destination", f"set {prefix}dest SUBJECT")
        if len(times) > 1 or not (times or may_lack_time or _SCHEDULE.lower() in present):
            *flags, last = (f"{prefix}{name}" for name in _TIMES)
            raise BadInput("a schedule needs one time", f"set one of {', '.join(flags)} and {last}")
        headers = [(_SCHEDULE, self._format_expression(now, prefix))] if times else []
        if self.dest:
            headers.append((_TARGET, self.dest))
        if self.message_ttl:
            headers.append(("Nats-Schedule-TTL", format_ttl(self.message_ttl)))
        if self.source:
            headers.append(("Nats-Schedule-Source", self.source))
        return headers

    def _format_expression(self, now: float, prefix: str) -> str:
        if self.at is not None:
            return f"@at {_format_utc(self.at)}"
        if self.after is not None:
            _check_positive(f"{prefix}after", self.after)
            return f"@at {units.format_rfc3339(units.seconds_to_ns(now) + self.after)}"
        if self.every is not None:
            _check_positive(f"{prefix}every", self.every)
            if self.every % units.SECOND:
                raise BadInput(f"{prefix}every must be in whole seconds")
            return f"@every {self.every // units.SECOND}s"
        return self.cron or ""


def is_scheduled(names: Iterable[str]) -> bool:
    """Return whether headers with these names make a schedule."""
    return _SCHEDULE.lower() in {name.lower() for name in names}


def format_ttl(value: int) -> str:
    """Format a message's TTL (ns) as the server reads it: in whole seconds, 1 or more. Raises BadInput."""
    if value < units.SECOND or value % units.SECOND:
        raise BadInput("a message's TTL must be in whole seconds, at least 1s")
    return f"{value // units.SECOND}s"


def parse_ttl(text: str) -> int:
    """Return a message's TTL in ns, 0 for none (nats-server: stream.go getMessageTTL)."""
    if text.isdigit():
        return int(text) * units.SECOND
    try:
        return units.parse_duration(text)
    except ValueError:
        return 0


def find_raised_ttl(config: Mapping[str, Any], ttl: int) -> int:
    """Return the TTL that a stream gives to a message instead of a shorter one, in ns; 0 if it keeps that.

    A server raises TTLs to that of the stream's markers, where a subject may have more than one message
    (nats-server: stream.go, processJetStreamMsgBatch). config: the stream's.
    """
    markers = int(config.get("subject_delete_marker_ttl") or 0)
    return markers if 0 < ttl < markers and config.get("max_msgs_per_subject") != 1 else 0


def describe_raised(config: Mapping[str, Any], ttl: int, scheduled: int) -> Sequence[str]:
    """Say for how long a stream keeps messages instead of their TTL (ns). scheduled: the TTL of those that it
    publishes for a schedule. Either is 0 for none."""
    raised = {"it": find_raised_ttl(config, ttl), "what it publishes": find_raised_ttl(config, scheduled)}
    why = "it raises TTLs below that of its markers"
    return [
        f"stream {config['name']} keeps {what} for {units.format_exact_duration(span)}: {why}"
        for what, span in raised.items()
        if span
    ]


def _check_positive(flag: str, value: int) -> None:
    if value <= 0:
        raise BadInput(f"{flag} must be more than 0")


def _format_utc(text: str) -> str:
    with contextlib.suppress(ValueError):
        return units.format_rfc3339(round(units.parse_time(text).timestamp()) * units.SECOND)
    raise BadInput(f"{text!r} is not an RFC 3339 time", "use one such as 2026-11-21T18:00:00Z")
