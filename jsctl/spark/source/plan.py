"""The plan to read a stream: its state, the sequences that the options name, and the way to read them."""

import random
import time
from datetime import datetime, timedelta
from typing import NamedTuple

from jsctl import registry
from jsctl.base.units import SECOND, format_rfc3339, parse_time
from jsctl.errors import ApiError, BadInput, Denied, NoResponders, RequestTimeout
from jsctl.jetstream.api import Json, is_no_message
from jsctl.nats.error_codes import ErrorCode
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.failures import warn_of_loss
from jsctl.spark.source.options import ReadOptions
from jsctl.spark.source.range_reader import DataLoss, ReadJob
from jsctl.spark.source.replies import AnswerLimits

MAX_DELETED_DETAILS = 100_000
"""Maximum number of deleted messages whose sequences are fetched for every batch of a streaming query."""


LIGHT_MESSAGE = 1024
"""Size of a stored message (bytes) up to which it is read whole, although its payload is not needed."""


_NOUNS = {"messages": "stream", "keys": "bucket", "objects": "object bucket"}
"""The noun for what is read, by the kind of its rows."""


class StreamState(NamedTuple):
    """A stream at a given time. Its sequences are [first, end), and `deleted` of them hold no message.

    created: its creation time, as text of the server. direct: whether batch direct get works. messages,
    bytes: its totals. now: the server's time. is_partial: it mirrors a part of another stream, so that
    sequences without a message were not deleted. starts_at: the sequence from which on it can have messages.
    """

    created: str
    first: int
    end: int
    deleted: int
    direct: bool
    messages: int = 0
    bytes: int = 0
    now: str = ""
    is_partial: bool = False
    starts_at: int = 1


Modes = dict[tuple[object, ...], bool]
"""A cache: the properties of a stream that decide how it is read -> whether direct get works."""


def fetch_stream(
    connection: StreamConnection, options: ReadOptions, modes: Modes | None = None
) -> StreamState:
    """Fetch the stream's state. modes: a cache, whose entries are not fetched again.

    Raises ApiError that names the stream or bucket when it does not exist, Unreachable, Denied for a missing
    permission, BadInput when the fetch mode cannot work.
    """
    return inspect_stream(connection, options, fetch_info(connection, options), modes)


def inspect_stream(
    connection: StreamConnection, options: ReadOptions, info: Json, modes: Modes | None = None
) -> StreamState:
    """Return what `fetch_stream` does, from the stream's info."""
    state, config = info["state"], info["config"]
    end = state["last_seq"] + 1
    first = min(max(state["first_seq"], 1), end)
    mirror = config.get("mirror") or {}
    is_partial = _is_partial(mirror)
    if is_partial and options.fail_on_deleted:
        raise BadInput(
            f"what was deleted from {options.stream} is unknown, as it mirrors a part of {mirror['name']}",
            "do not fail on deleted messages",
        )
    direct_by_key = {} if modes is None else modes
    key = (options.stream, info["created"], config.get("allow_direct"), config.get("retention"))
    if key not in direct_by_key:
        is_direct = _is_direct(connection, options, config)
        # A consumer can omit payloads.
        is_heavy = int(state["bytes"]) > LIGHT_MESSAGE * int(state["messages"])
        if is_direct and is_heavy and not options.payloads and options.fetch_mode == "auto":
            is_direct = not _may_use_consumer(connection, options, config)
        _check_rights(connection, options, is_direct)
        direct_by_key[key] = is_direct
    return StreamState(
        created=info["created"],
        first=first,
        end=end,
        deleted=end - first - int(state["messages"]),
        direct=direct_by_key[key],
        messages=int(state["messages"]),
        bytes=int(state["bytes"]),
        now=str(info.get("ts") or ""),
        is_partial=is_partial,
        starts_at=max(1, int(mirror.get("opt_start_seq") or 0)),
    )


def _is_partial(mirror: Json) -> bool:
    """Return whether a mirror leaves out messages of its origin: some subjects, or those before a start."""
    if any(mirror.get(key) for key in ("opt_start_seq", "opt_start_time")):
        return True
    sources = [transform.get("src") or ">" for transform in mirror.get("subject_transforms") or ()]
    return ">" not in (sources or [mirror.get("filter_subject") or ">"])


def fetch_info(connection: StreamConnection, options: ReadOptions) -> Json:
    """Fetch the info of a stream. Raises ApiError that names the stream or bucket when it does not exist."""
    try:
        return connection.call(f"{options.prefix}.STREAM.INFO.{options.stream}", None, options.timeout)
    except ApiError as error:
        if error.err_code != ErrorCode.STREAM_NOT_FOUND:
            raise
        is_stream = options.rows == "messages"
        name = options.stream if is_stream else options.stream.partition("_")[2]
        text, hint = registry.find_noun(_NOUNS[options.rows]).missing(name, domain=options.settings.js_domain)
        raise ApiError(error.code, error.err_code, text, hint) from None


def count_deleted(
    connection: StreamConnection, options: ReadOptions, stream: StreamState, start: int, end: int
) -> int | None:
    """Return how many sequences of [start, end) hold no message now. start: the stream's first sequence, or a
    later one.

    None when that is unknown, as only some subjects are read or mirrored, or too many messages were deleted.
    """
    if options.subjects or stream.is_partial:
        return None
    if not stream.deleted or start >= end:
        return 0
    if (start, end) == (stream.first, stream.end):
        return stream.deleted
    deleted = fetch_deleted(connection, options, stream)
    return None if deleted is None else sum(start <= sequence < end for sequence in deleted)


def fetch_deleted(
    connection: StreamConnection, options: ReadOptions, stream: StreamState
) -> list[int] | None:
    """Return the sequences after the first that hold no message; None when they are too many to fetch."""
    if not stream.deleted:
        return []
    if stream.deleted > MAX_DELETED_DETAILS:
        return None
    body = {"deleted_details": True}
    info = connection.call(f"{options.prefix}.STREAM.INFO.{options.stream}", body, options.timeout)
    return info["state"].get("deleted") or []


def _is_direct(connection: StreamConnection, options: ReadOptions, config: Json) -> bool:
    if options.fetch_mode == "consumer":
        reason = "fetchMode is consumer"
    elif len(options.subjects) > 1:
        reason = "it takes one subject, and several are given"
    elif not config.get("allow_direct"):
        reason = f"{options.stream} does not allow it"
    elif not _has_batches(connection, options):
        reason = "no answer: the server is older than 2.11, or this account has no permission"
    else:
        return True
    if options.fetch_mode == "direct":
        raise BadInput(f"direct get does not work: {reason}", "use fetchMode auto or consumer")
    if config.get("retention", "limits") != "limits":
        raise BadInput(
            f"{options.stream} has {config['retention']} retention: a consumer removes what it reads",
            "allow direct get on it",
        )
    return False


def _may_use_consumer(connection: StreamConnection, options: ReadOptions, config: Json) -> bool:
    if config.get("retention", "limits") != "limits":
        return False
    try:
        _check_rights(connection, options, False)
    except Denied:
        return False
    return True


def _has_batches(connection: StreamConnection, options: ReadOptions) -> bool:
    """Return whether the server knows batch direct gets.

    Requests messages that do not exist: a server that knows batches says so, an older one calls the request
    empty.
    """
    body = b'{"multi_last":["jsctl.%016x"],"batch":1}' % random.getrandbits(64)
    connection.watch(options.stream)
    try:
        limits = AnswerLimits(f"{options.prefix}.DIRECT.GET.{options.stream}", 1, options.max_bytes)
        key, reply = connection.ask(limits, body)
        deadline = time.monotonic() + min(options.timeout, 2 * SECOND) / SECOND
        while not reply.status and not reply.is_single:
            connection.pump(deadline)
        connection.forget(key)
    except (TimeoutError, Denied):
        return False
    return reply.status in (204, 404)


def _check_rights(connection: StreamConnection, options: ReadOptions, direct: bool) -> None:
    """Raise Denied for a missing permission, RequestTimeout for no reply. The requests change nothing."""
    name = f"jsctl_spark_{random.getrandbits(64):016x}"
    verbs = [f"STREAM.MSG.GET.{options.stream}"]
    if not direct:
        filters = "." + options.subjects[0] if len(options.subjects) == 1 else ""
        verbs.append(f"CONSUMER.CREATE.{options.stream}.{name}{filters}")
        verbs.append(f"CONSUMER.MSG.NEXT.{options.stream}.{name}")
    for verb in verbs:
        try:
            connection.call(f"{options.prefix}.{verb}", None, options.timeout)
        except (ApiError, NoResponders):
            continue  # an error about the request, or no such consumer
        except RequestTimeout:
            if verb.startswith("STREAM"):
                raise
        except Denied:
            raise Denied(
                f"reading {options.stream} needs permission to publish to"
                f" {options.prefix}.{verb.replace(name, '*')}",
                "'jsctl manual permissions' lists all of them",
            ) from None


def resolve_range(
    connection: StreamConnection, options: ReadOptions, stream: StreamState, *, lenient: bool = False
) -> tuple[int, int]:
    """Return the sequences [start, end) that a batch query reads. lenient: skip messages that no longer
    exist.

    Raises DataLoss, BadInput.
    """
    start = resolve_start(connection, options, stream, lenient=lenient)
    allows_loss = lenient or not options.fail_on_loss
    if options.range.end_time:
        end = find_sequence_at(connection, options, stream, resolve_time(options.range.end_time, stream))
    elif options.range.end == "latest":
        end = stream.end
    elif options.range.end == "earliest":
        end = stream.first
    else:
        end = int(options.range.end)
        if end > stream.end:
            raise BadInput(
                f"endingOffsets {end} is beyond the stream, whose last message is {stream.end - 1}",
                "it is exclusive; use latest to read everything",
            )
        if end < stream.first and not allows_loss:
            raise DataLoss(
                f"endingOffsets {end} is before the first message that {options.stream} has, {stream.first}",
                "set failOnDataLoss to false to read nothing instead",
            )
        if start > end and not (allows_loss and start == stream.first):
            raise BadInput(f"{_describe_start(options, start)} is after endingOffsets {end}")
    return start, max(start, end)


def _describe_start(options: ReadOptions, start: int) -> str:
    if options.range.start_time:
        return f"startingTimestamp, which is sequence {start},"
    return f"startingOffsets {options.range.start}" + (
        "" if options.range.start == start else f", which is {start},"
    )


def resolve_start(
    connection: StreamConnection, options: ReadOptions, stream: StreamState, *, lenient: bool = False
) -> int:
    """Return the first sequence to read. Raises DataLoss when the options name one that no longer exists."""
    if options.range.start_time:
        return find_sequence_at(connection, options, stream, resolve_time(options.range.start_time, stream))
    if options.range.start == "earliest":
        return stream.first
    if options.range.start == "latest":
        return stream.end
    start = int(options.range.start)
    if start < 0:
        return max(stream.first, stream.end + start)
    if start > stream.end:
        raise BadInput(
            f"startingOffsets {start} is beyond the stream, whose last message is {stream.end - 1}"
        )
    if start < stream.first and not lenient:
        if options.fail_on_loss:
            raise DataLoss(
                f"{options.stream} starts at sequence {stream.first}, after startingOffsets {start}",
                "set failOnDataLoss to false to read what is left",
            )
        warn_of_loss(options.stream, stream.first - start, start, stream.first, bool(options.subjects))
    return max(start, stream.first)


def is_promised(options: ReadOptions, stream: StreamState, start: int) -> bool:
    """Return whether the options name the message at `start`, instead of any available one.

    A stream at its limit drops its first message all the time.
    """
    is_named = options.range.start == "latest" or (
        isinstance(options.range.start, int) and options.range.start > 0
    )
    return (options.range.start_time is None and is_named) or start > stream.first


def resolve_time(time: datetime | timedelta, stream: StreamState) -> datetime:
    """Return a time; a duration is subtracted from the server's time."""
    if isinstance(time, datetime):
        return time
    now = parse_time(stream.now) if stream.now else datetime.now().astimezone()
    return now - time


def find_sequence_at(
    connection: StreamConnection, options: ReadOptions, stream: StreamState, time: datetime
) -> int:
    """Return the first sequence at or after a time; one past the last when all messages are before it.

    Only newer servers accept a time in STREAM.MSG.GET; on others, a consumer that starts at the time has the
    sequence.
    """
    name = f"jsctl_spark_{random.getrandbits(64):016x}"
    time_text = format_rfc3339(time)
    try:
        response = connection.call(
            f"{options.prefix}.STREAM.MSG.GET.{options.stream}", {"start_time": time_text}, options.timeout
        )
        return int(response["message"]["seq"])
    except ApiError as error:
        if is_no_message(error):
            return stream.end
    except RequestTimeout:
        pass
    config: Json = {
        "name": name,
        "deliver_policy": "by_start_time",
        "opt_start_time": time_text,
        "ack_policy": "none",
        "mem_storage": True,
        "num_replicas": 1,
        "inactive_threshold": 10 * SECOND,
    }
    verb = f"{options.stream}.{name}"
    body = {"stream_name": options.stream, "config": config}
    consumer_info = connection.call(f"{options.prefix}.CONSUMER.CREATE.{verb}", body, options.timeout)
    connection.call(f"{options.prefix}.CONSUMER.DELETE.{verb}", None, options.timeout)
    return int(consumer_info["delivered"]["stream_seq"]) + 1


def create_read_job(
    options: ReadOptions, created: str, start: int, end: int, *, is_promised: bool = True
) -> ReadJob:
    """Return the job of a task that reads [start, end). is_promised: as in ReadJob."""
    return ReadJob(
        stream=options.stream,
        created=created,
        start=start,
        end=end,
        prefix=options.prefix,
        subjects=options.subjects,
        batch=options.batch,
        max_bytes=options.max_bytes,
        timeout=options.timeout,
        retries=options.retries,
        retry_timeout=options.retry_timeout,
        fail_on_loss=options.fail_on_loss,
        fail_on_deleted=options.fail_on_deleted,
        is_promised=is_promised,
        without_payloads=not options.payloads,
    )
