"""Plan what to read of a stream: its state, the sequences that the options name, and how to read them."""

import contextlib
import json
import random
import time
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple, TypeVar

from jsctl.errors import ApiError, BadInput, Denied, JsctlError, RequestTimeout, Unreachable
from jsctl.jetstream.api import Json, is_no_message
from jsctl.nats.blocking import ConnectionLost
from jsctl.spark.session.task_archive import provide_pynacl
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.failures import warn_of_loss
from jsctl.spark.source.options import ReadOptions
from jsctl.spark.source.reader import DataLoss, ReadJob
from jsctl.units import SECOND, format_rfc3339

T = TypeVar("T")


MAX_DELETED_DETAILS = 100_000
"""Most deleted messages of a stream whose sequences are fetched for every batch of a streaming query."""


class StreamState(NamedTuple):
    """A stream at one time. Its sequences are [first, end), and `deleted` of them hold no message.

    created: its creation time, as the server writes it. direct: whether batch direct get works.
    """

    created: str
    first: int
    end: int
    deleted: int
    direct: bool


def with_connection(options: ReadOptions, work: Callable[[StreamConnection], T]) -> T:
    """Return the result of `work` on a connection of its own. Repeat it as the options say when the
    connection ends or no server answers."""
    provide_pynacl()  # Spark plans in a Python of the executors, too
    attempt = 0
    while True:
        try:
            with contextlib.closing(StreamConnection.open(options.settings)) as connection:
                return work(connection)
        except (ConnectionLost, TimeoutError, Unreachable) as error:
            if attempt >= options.retries:
                if isinstance(error, JsctlError):
                    raise
                raise Unreachable(f"lost the connection while asking for {options.stream}") from None
        time.sleep(min(0.1 * 2**attempt, 5))
        attempt += 1


def fetch_stream(connection: StreamConnection, options: ReadOptions) -> StreamState:
    """Return the stream's state.

    Raises ApiError when there is no such stream, Unreachable, BadInput when the fetch mode cannot work.
    """
    info = connection.call(f"{options.prefix}.STREAM.INFO.{options.stream}", None, options.timeout)
    state = info["state"]
    end = state["last_seq"] + 1
    first = min(max(state["first_seq"], 1), end)
    deleted = end - first - int(state["messages"])
    return StreamState(
        info["created"], first, end, deleted, _is_direct(connection, options, info, first < end)
    )


def count_deleted(
    connection: StreamConnection, options: ReadOptions, stream: StreamState, start: int, end: int
) -> int | None:
    """Return how many sequences of [start, end) hold no message now. start: the stream's first sequence, or a
    later one.

    None when that is unknown, as only some subjects are read or too many messages were deleted.
    """
    if options.subjects:
        return None
    if not stream.deleted or start >= end:
        return 0
    if (start, end) == (stream.first, stream.end):
        return stream.deleted
    if stream.deleted > MAX_DELETED_DETAILS:
        return None
    body = {"deleted_details": True}
    info = connection.call(f"{options.prefix}.STREAM.INFO.{options.stream}", body, options.timeout)
    deleted: list[int] = info["state"].get("deleted") or []
    return sum(start <= sequence < end for sequence in deleted)


def _is_direct(connection: StreamConnection, options: ReadOptions, info: Json, has_messages: bool) -> bool:
    if options.fetch_mode == "consumer":
        reason = "fetchMode is consumer"
    elif len(options.subjects) > 1:
        reason = "it takes one subject, and several are given"
    elif not info["config"].get("allow_direct"):
        reason = f"{options.stream} does not allow it"
    elif has_messages and not _has_batches(connection, options, info["state"]["first_seq"]):
        reason = "no answer: the server is older than 2.11, or this account has no permission"
    else:
        return True
    if options.fetch_mode == "direct":
        raise BadInput(f"direct get does not work here: {reason}", "use fetchMode auto or consumer")
    if info["config"].get("retention", "limits") != "limits":
        raise BadInput(
            f"{options.stream} has {info['config']['retention']} retention: a consumer removes what it reads",
            "allow direct get on it",
        )
    return False


def _has_batches(connection: StreamConnection, options: ReadOptions, first: int) -> bool:
    body = json.dumps({"seq": first, "batch": 1}).encode()
    connection.watch(options.stream)
    try:
        key, reply = connection.ask(f"{options.prefix}.DIRECT.GET.{options.stream}", body)
        deadline = time.monotonic() + min(options.timeout, 2 * SECOND) / SECOND
        # An older server sends the message alone, without the end of a batch.
        while not reply.status and not reply.is_single:
            connection.pump(deadline)
        connection.forget(key)
    except (TimeoutError, Denied):
        return False
    return reply.status in (204, 404)


def resolve_range(connection: StreamConnection, options: ReadOptions, stream: StreamState) -> tuple[int, int]:
    """Return the sequences [start, end) that a batch query reads. Raises DataLoss, BadInput."""
    start = resolve_start(connection, options, stream)
    if options.end_time:
        end = find_sequence_at(connection, options, stream, options.end_time)
    elif options.end == "latest":
        end = stream.end
    elif options.end == "earliest":
        end = stream.first
    else:
        end = options.end
        if end > stream.end:
            raise BadInput(
                f"endingOffsets {end} is beyond the stream, whose last message is {stream.end - 1}",
                "it is exclusive; use latest to read everything",
            )
    if start > end and options.end not in ("latest", "earliest") and not options.end_time:
        raise BadInput(f"startingOffsets {start} is after endingOffsets {end}")
    return start, max(start, end)


def resolve_start(connection: StreamConnection, options: ReadOptions, stream: StreamState) -> int:
    """Return the first sequence to read. Raises DataLoss when the options name one that is gone."""
    if options.start_time:
        return find_sequence_at(connection, options, stream, options.start_time)
    if options.start == "earliest":
        return stream.first
    if options.start == "latest":
        return stream.end
    if options.start > stream.end:
        raise BadInput(
            f"startingOffsets {options.start} is beyond the stream, whose last message is {stream.end - 1}"
        )
    if options.start < stream.first:
        if options.fail_on_loss:
            raise DataLoss(
                f"{options.stream} starts at sequence {stream.first}, startingOffsets says {options.start}",
                "set failOnDataLoss to false to read what is left",
            )
        lost = stream.first - options.start
        warn_of_loss(options.stream, lost, options.start, stream.first, bool(options.subjects))
    return max(options.start, stream.first)


def find_sequence_at(
    connection: StreamConnection, options: ReadOptions, stream: StreamState, moment: datetime
) -> int:
    """Return the first sequence at or after a time; one past the last when all messages are before it.

    STREAM.MSG.GET takes a time on newer servers only. On others a consumer that starts there tells the
    sequence.
    """
    name = f"jsctl_spark_{random.getrandbits(64):016x}"
    time_text = format_rfc3339(moment)
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


def create_read_job(options: ReadOptions, created: str, start: int, end: int) -> ReadJob:
    """Return the job of a task that reads [start, end)."""
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
        fail_on_loss=options.fail_on_loss,
        fail_on_deleted=options.fail_on_deleted,
    )
