"""`stream copy --data`."""

from jsctl.base.units import format_bytes, format_count, format_duration, pluralize
from jsctl.errors import ExitStatus
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.copy import StreamCopy
from jsctl.views.result import Lines, Result
from jsctl.views.shared.text import transfer_rate
from jsctl.views.stream import info as stream_info


def copied(copy: StreamCopy) -> Result:
    """Return what was copied and compared, and the new stream's info page."""
    messages, size = int(copy.state["messages"]), int(copy.state["bytes"])
    part = f", {format_bytes(copy.moved)} of it now" if copy.begun_at != 1 else ""
    lines = [
        f"Copied Stream {copy.source} to {copy.target}: {pluralize(messages, 'message')}, "
        f"{format_bytes(size)}{part} in {format_duration(copy.duration)}, "
        f"{transfer_rate(copy.moved, copy.duration)}",
        *_list_comparison_lines(copy),
    ]
    document: Json = {
        "source": copy.source,
        "destination": copy.target,
        "messages": messages,
        "bytes": size,
        "moved_bytes": copy.moved,
        "begun_at": copy.begun_at,
        "duration_ns": copy.duration,
        "comparison": copy.comparison.record() if copy.comparison else None,
        "info": copy.info,
    }
    status = ExitStatus.FAILURE if copy.failed else ExitStatus.OK
    info_page = stream_info.info_page(copy.info)
    parts = [Lines(lines, "bad" if copy.failed else ""), *info_page.parts]
    return Result(parts, data=document, status=status)


def _list_comparison_lines(copy: StreamCopy) -> list[str]:
    comparison = copy.comparison
    if comparison is None:
        return ["Not compared"]
    compared = f"Compared {pluralize(comparison.compared, 'message')}"
    if comparison.failures:
        lines = [
            f"{compared}: {format_count(comparison.failures)} differ",
            *(f"  {sequence} is missing" for sequence in sorted(comparison.missing)),
            *(f"  {sequence} has another {part}" for sequence, part in sorted(comparison.different.items())),
        ]
    else:
        lines = [f"{compared}: sequences, subjects, headers, times and data are the same"]
    if comparison.removed:
        fired = ", or were schedules that fired" if copy.info["config"].get("allow_msg_schedules") else ""
        gone = f"{format_count(comparison.removed)} of them have since been removed from Stream {copy.source}"
        lines.append(gone + fired)
    return lines
