"""Plans and outcomes of exports of streams: the values that its parts pass to each other, and planning."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput
from jsctl.spark.export.verify import Comparison
from jsctl.spark.source import plan as source_plan
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.failures import format_lost
from jsctl.spark.source.options import ReadOptions
from jsctl.spark.source.plan import StreamState
from jsctl.spark.source.range_reader import DataLoss, check_identity

_NEW_TABLE = "export it to another folder or table"


@dataclass(frozen=True, slots=True)
class StreamSource:
    """A stream, how to connect to its server, and the table that it goes to."""

    settings: Settings
    stream: str
    table: str


@dataclass(frozen=True, slots=True)
class Selection:
    """The messages of a stream to export.

    subjects: subject filters, empty for all. start, end: sequences, the end exclusive. since, until: times,
    the end exclusive. fail_on_bad: number of payloads that cannot be decoded with which a run fails, 0 for
    none.
    """

    subjects: tuple[str, ...] = ()
    start: int | None = None
    end: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    fail_on_loss: bool = True
    fail_on_deleted: bool = False
    fail_on_bad: int = 0

    def with_checkpoint(self) -> "Selection":
        """Return the selection of a run that continues one of its own."""
        return replace(self, start=None, since=None)


class ReadPlan(NamedTuple):
    """The plan of what a run reads: the sequences [start, end) of the stream that was created at `created`.

    first: the first sequence of the table, which may have rows already. lost: number of sequences with which
    the table should continue and that the stream no longer has. messages, bytes: estimates. is_promised:
    whether the message at `start` was requested, instead of the first available one (see `plan.is_promised`).
    """

    created: str
    start: int
    end: int
    first: int
    lost: int
    messages: int
    bytes: int
    is_promised: bool = True
    head: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run for one stream.

    bytes: of payload. deleted: number of sequences without a message; None (unknown) when only some subjects
    were read. lost: number of messages that the stream dropped before they were read. bad: number of payloads
    that could not be decoded. first, last: sequences. seconds: for reading and writing. comparison: with
    --verify.
    """

    stream: str
    table: str
    exported: int = 0
    bytes: int = 0
    deleted: int | None = 0
    lost: int = 0
    bad: int = 0
    first: int | None = None
    last: int | None = None
    seconds: float = 0.0
    comparison: Comparison | None = None

    def merge(self, later: "Outcome") -> "Outcome":
        """Return this run and a later one of the same stream as one."""
        deleted = None if self.deleted is None or later.deleted is None else self.deleted + later.deleted
        return Outcome(
            stream=self.stream,
            table=self.table,
            exported=self.exported + later.exported,
            bytes=self.bytes + later.bytes,
            deleted=deleted,
            lost=self.lost + later.lost,
            bad=self.bad + later.bad,
            first=later.first if self.first is None else self.first,
            last=self.last if later.last is None else later.last,
            seconds=self.seconds + later.seconds,
        )


def plan_read(
    connection: StreamConnection,
    options: ReadOptions,
    selection: Selection,
    checkpoint: dict[str, Any] | None,
) -> ReadPlan:
    """Return what the next run reads. checkpoint: of the table that the run extends; None for a new table.

    Raises ApiError when there is no such stream, DataLoss, BadInput.
    """
    info = source_plan.fetch_info(connection, options)
    stream = source_plan.inspect_stream(connection, options, info)
    if checkpoint:
        check_identity(info, checkpoint["created"], int(checkpoint["next"]), _NEW_TABLE)
        if selection.since or selection.start is not None:
            raise BadInput(
                f"the table of {options.stream} is there already, and continues at sequence"
                f" {checkpoint['next']}: --from-seq and --since say where a new one begins",
                "leave them out, or add --backfill to write a range again",
            )
        requested = int(checkpoint["next"])
        if stream.is_partial:  # what it never had is not lost
            begin = min(stream.starts_at, stream.first) if checkpoint.get("exported", 1) else stream.first
            requested = max(requested, begin)
    elif selection.since:
        requested = source_plan.find_sequence_at(connection, options, stream, selection.since)
    else:
        requested = stream.first if selection.start is None else selection.start
    end = _find_end(connection, options, selection, stream)
    if requested > stream.end:
        raise BadInput(
            f"--from-seq {requested} is beyond {options.stream}, whose last message is {stream.end - 1}"
        )
    is_below = selection.end is not None and selection.end < requested == stream.first
    if is_below and not checkpoint and selection.fail_on_loss:
        raise DataLoss(
            f"--to-seq {end - 1} is before the first message that {options.stream} has, {stream.first}",
            "--no-fail-on-data-loss writes an empty table instead",
        )
    lost = max(0, min(stream.first, end) - requested)
    if lost and selection.fail_on_loss:
        raise DataLoss(
            f"{options.stream} starts at sequence {stream.first}, after the requested {requested}:"
            f" {format_lost(lost, bool(selection.subjects) or stream.is_partial)}",
            "--no-fail-on-data-loss reads what is left",
        )
    start = min(max(requested, stream.first), max(end, requested))
    end = max(start, end)
    return _build_plan(
        stream,
        start,
        end,
        first=int(checkpoint["from"]) if checkpoint else requested,
        lost=lost,
        is_promised=bool(checkpoint) or selection.start is not None or start > stream.first,
    )


def plan_backfill(
    connection: StreamConnection, options: ReadOptions, selection: Selection, checkpoint: dict[str, Any]
) -> ReadPlan:
    """Return what is read to write a range of a table again. checkpoint: of the table.

    Raises what `plan_read` raises.
    """
    info = source_plan.fetch_info(connection, options)
    stream = source_plan.inspect_stream(connection, options, info)
    first, next = int(checkpoint["from"]), int(checkpoint["next"])
    check_identity(info, checkpoint["created"], next, _NEW_TABLE)
    start = first if selection.start is None else selection.start
    if selection.since:
        start = source_plan.find_sequence_at(connection, options, stream, selection.since)
    end = min(_find_end(connection, options, selection, stream), next)
    if start < first or start >= end:
        raise BadInput(
            f"the table of {options.stream} has the sequences {first} to {next - 1}, and the range is not a"
            " part of them",
            "--incremental exports what follows",
        )
    if stream.first >= end:
        raise DataLoss(
            f"{options.stream} starts at sequence {stream.first}, and has nothing of this range any more",
            "the table keeps it as it is",
        )
    return _build_plan(stream, max(start, stream.first), end, first=first, lost=0, is_promised=False)


def _find_end(
    connection: StreamConnection, options: ReadOptions, selection: Selection, stream: StreamState
) -> int:
    """Return the end of a selection, exclusive."""
    if selection.until:
        return source_plan.find_sequence_at(connection, options, stream, selection.until)
    return stream.end if selection.end is None else min(selection.end, stream.end)


def _build_plan(
    stream: StreamState, start: int, end: int, *, first: int, lost: int, is_promised: bool
) -> ReadPlan:
    messages = (end - start) * min(1.0, stream.messages / max(1, stream.end - stream.first))
    return ReadPlan(
        created=stream.created,
        start=start,
        end=end,
        first=first,
        lost=lost,
        messages=round(messages),
        bytes=round(messages * stream.bytes / max(1, stream.messages)),
        is_promised=is_promised,
        head=stream.first,
    )


def list_stream_sources(places: Sequence[Settings], names: Sequence[str]) -> list[StreamSource]:
    """Return every stream in every context and domain, with the name of its table.

    If there are several contexts or domains, these are part of the name. Raises BadInput when two streams
    would share a table.
    """
    sources: dict[str, StreamSource] = {}
    for settings in places:
        qualifiers = [
            getattr(settings, field)
            for field in ("context", "js_domain")
            if len({getattr(place, field) for place in places}) > 1 and getattr(settings, field)
        ]
        for name in dict.fromkeys(names):
            table = re.sub(r"[^\w-]", "_", "_".join([*qualifiers, name]))
            if not re.match(r"[A-Za-z0-9]", table):
                table = f"t{table}"  # Spark ignores folders that begin with _
            if table in sources:
                raise BadInput(f"two streams would go to {table}", "export one of them to another folder")
            sources[table] = StreamSource(settings, name, table)
    return list(sources.values())


def build_source_options(source: StreamSource, selection: Selection) -> dict[str, str]:
    """Return the options of the data source for a selection, except the connection's.

    Raises BadInput for settings that Spark's readers cannot use.
    """
    if source.settings.socks_proxy:
        raise BadInput("Spark's readers cannot use --socks-proxy", "use a context without it")
    options = {
        "stream": source.stream,
        "requestTimeout": format_request_timeout(source.settings),
        "failOnDataLoss": str(selection.fail_on_loss).lower(),
        "failOnDeleted": str(selection.fail_on_deleted).lower(),
    }
    if selection.subjects:
        options["subject"] = ",".join(selection.subjects)
    return options


def format_request_timeout(settings: Settings) -> str:
    """Return the value of the data source's option requestTimeout for the settings' timeout."""
    return f"{max(settings.timeout, 1_000_000) // 1_000_000}ms"
