"""The schedules that a stream holds, and what they have written (ADR-51; nats-server: scheduler.go)."""

from contextlib import aclosing
from itertools import islice
from typing import NamedTuple

from jsctl.base.command_lines import build_line
from jsctl.base.units import parse_time_ns, to_ns
from jsctl.errors import ApiError, BadInput, NotFound
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.cron import AT, list_runs
from jsctl.jetstream.message.publish import parse_ack
from jsctl.nats.headers import Headers, encode_headers
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.subjects import matches

_PATTERN, _SCHEDULER, _NEXT = "nats-schedule", "nats-scheduler", "nats-schedule-next"
_PREFIX = "nats-schedule-"


class Written(NamedTuple):
    """The last message that a schedule has written. next: when it writes again (ns since 1970), as the server
    noted in it; 0 if it does not say."""

    sequence: int
    time: str
    next: int


class StoredSchedule(NamedTuple):
    """A schedule. stored: RFC 3339. pattern: as in Nats-Schedule. zone: of cron fields; empty for UTC.
    written: None if the last message on the target is another's, or there is none."""

    subject: str
    sequence: int
    stored: str
    pattern: str
    zone: str
    target: str
    source: str
    ttl: str
    rollup: str
    written: Written | None
    stream: str

    def list_runs(self, now: int, count: int) -> list[int]:
        """Return the next times (ns since 1970) at which it runs. Raises BadInput for a pattern that servers
        refuse."""
        if self.pattern.startswith(AT):
            return list(islice(list_runs(self.pattern, self.zone, 0), count))  # one that is over runs now
        known = self.written.next if self.written else 0
        if known > now:
            return [known, *islice(list_runs(self.pattern, self.zone, known), count - 1)]
        runs = list_runs(self.pattern, self.zone, known or to_ns(self.stored))
        first = next(runs, None)
        if first is None or first > now:
            return [*([] if first is None else [first]), *islice(runs, count - 1)][:count]
        return list(islice(list_runs(self.pattern, self.zone, now), count))


def require_schedules(config: Json) -> None:
    """Raise BadInput for a stream that does not allow schedules."""
    if not config.get("allow_msg_schedules"):
        name = str(config["name"])
        line = build_line("stream edit", name, flags=["--allow-schedules"])
        raise BadInput(f"stream {name} does not allow scheduled messages", f"{line} does")


def require_another(config: Json, subject: str, flag: str, other: str | None) -> None:
    """Raise BadInput unless the subject of a flag is another one of the schedule's stream, as servers want
    it; None for a flag that is not given. subject: the schedule's."""
    stored = config.get("subjects") or ()
    if other is not None and (other == subject or not any(matches(each, other) for each in stored)):
        name = str(config["name"])
        subjects = ", ".join(stored) or "none"
        raise BadInput(f"{flag} {other} is not another subject of stream {name}", f"it stores {subjects}")


async def list_schedules(api: Api, config: Json, subject: str) -> list[StoredSchedule]:
    """Return the schedules of a stream on a subject, which may have wildcards, by subject."""
    from jsctl.jetstream.message.receive import receive_stored  # other verbs do not need it

    policy = {"deliver_policy": "last_per_subject"}
    receiver = receive_stored(api, config, [subject or ">"], policy, headers_only=True, to_end=True)
    found: dict[str, Message] = {}
    async with aclosing(receiver.read_decoded(lambda message: message)) as pages:
        async for page in pages:
            found |= {message.subject: message for message in page}  # what changed meanwhile comes twice
    name = str(config["name"])
    held = [message for _, message in sorted(found.items()) if _get_pattern(message)]
    return [await _build_schedule(api, name, message) for message in held]


async def fetch_schedule(api: Api, stream: str, subject: str) -> StoredSchedule:
    """Return the schedule on a subject. Raises NotFound."""
    lists = f"{build_line('schedule ls', stream)} lists the schedules"
    try:
        message = await browse.fetch_last(api, stream, subject)
    except NotFound:
        raise NotFound(f"stream {stream} has no schedule on {subject}", lists) from None
    if not _get_pattern(message):
        raise NotFound(f"the last message on {subject} in stream {stream} is not a schedule", lists)
    return await _build_schedule(api, stream, message)


async def _build_schedule(api: Api, stream: str, message: Message) -> StoredSchedule:
    headers = {name.lower(): value for name, value in message.headers}
    target = headers.get(_PREFIX + "target", "")
    metadata = message.metadata
    sequence, stored = (metadata.sequence, metadata.timestamp) if metadata else (0, "")
    return StoredSchedule(
        message.subject,
        sequence,
        stored,
        headers[_PATTERN],
        headers.get(_PREFIX + "time-zone", ""),
        target,
        headers.get(_PREFIX + "source", ""),
        headers.get(_PREFIX + "ttl", ""),
        headers.get(_PREFIX + "rollup", ""),
        await _fetch_written(api, stream, message.subject, target) if target else None,
        stream,
    )


async def _fetch_written(api: Api, stream: str, subject: str, target: str) -> Written | None:
    """Return the last message on the target, if the schedule on the subject has written it."""
    try:
        message = await browse.fetch_last(api, stream, target)
    except (NotFound, ApiError):
        return None
    headers = {name.lower(): value for name, value in message.headers}
    metadata = message.metadata
    if headers.get(_SCHEDULER) != subject or metadata is None:
        return None
    try:
        following = parse_time_ns(headers.get(_NEXT, ""))
    except ValueError:  # "purge": it ran once
        following = 0
    return Written(metadata.sequence, metadata.timestamp, following)


def _get_pattern(message: Message) -> str:
    return next((value for name, value in message.headers if name.lower() == _PATTERN), "")


async def publish(api: Api, stream: str, subject: str, body: bytes, headers: Headers) -> int:
    """Store a message in a stream; return its sequence. Raises ApiError when the stream refuses it."""
    block = encode_headers([("Nats-Expected-Stream", stream), *headers])
    api.show(f">>> {subject}", "\n".join(f"{name}: {text}" for name, text in headers))
    message = OutgoingMessage(subject, body, "", block)
    reply = await api.connection.request_message(message, timeout=api.timeout)
    return int(parse_ack(subject, reply).get("seq") or 0)


async def replace_by(api: Api, stream: str, schedule: StoredSchedule, subject: str, body: bytes) -> int:
    """Store a message and remove a schedule in one step, unless it has changed; return the new sequence.

    Raises ApiError when the stream refuses it.
    """
    headers = [
        ("Nats-Scheduler", schedule.subject),
        ("Nats-Schedule-Next", "purge"),
        ("Nats-Expected-Last-Subject-Sequence", str(schedule.sequence)),
        ("Nats-Expected-Last-Subject-Sequence-Subject", schedule.subject),
    ]
    return await publish(api, stream, subject, body, headers)
