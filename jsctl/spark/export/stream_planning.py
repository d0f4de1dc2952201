"""Planning what a run of an export reads, from the selection, the stream and the table's checkpoint."""

from typing import Any

from jsctl.errors import BadInput
from jsctl.spark.export.stream_plan import ReadPlan, Selection
from jsctl.spark.source import plan as source_plan
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.failures import format_lost
from jsctl.spark.source.options import ReadOptions
from jsctl.spark.source.range_reader import DataLoss, check_identity

_NEW_TABLE = "export it without --incremental, or to another folder"


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
        requested = int(checkpoint["next"])
    elif selection.since:
        requested = source_plan.find_sequence_at(connection, options, stream, selection.since)
    else:
        requested = stream.first if selection.start is None else selection.start
    end = stream.end
    if selection.until:
        end = source_plan.find_sequence_at(connection, options, stream, selection.until)
    elif selection.end is not None:
        end = min(selection.end, end)
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
            f" {format_lost(lost, bool(selection.subjects))}",
            "--no-fail-on-data-loss reads what is left",
        )
    start = min(max(requested, stream.first), max(end, requested))
    end = max(start, end)
    span = max(1, stream.end - stream.first)
    messages = (end - start) * min(1.0, stream.messages / span)
    size = messages * stream.bytes / max(1, stream.messages)
    return ReadPlan(
        created=stream.created,
        start=start,
        end=end,
        first=int(checkpoint["from"]) if checkpoint else requested,
        lost=lost,
        messages=round(messages),
        bytes=round(size),
        is_promised=bool(checkpoint) or selection.start is not None or start > stream.first,
    )
