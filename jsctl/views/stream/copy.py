"""What a copy with its messages did."""

from typing import NamedTuple

from jsctl.errors import ExitStatus
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.copy import Comparison, End
from jsctl.units import format_bytes, format_count, format_duration
from jsctl.views.result import Result, Text
from jsctl.views.stream import info as stream_info
from jsctl.views.stream.backup import rate


class Copied(NamedTuple):
    """A copy that has all messages, marked as not compared.

    state: of the source, as it was copied. moved: bytes that were sent now. begun_at: sequence of the first
    message that was sent now, 0 for none. lost: how it differs, a sentence each.
    """

    info: Json
    state: Json
    moved: int
    begun_at: int
    lost: list[str]


def copied(
    source: End,
    target: End,
    made: Copied,
    found: Comparison | None,
    took: int,
    failed: bool,
) -> Result:
    """What was copied and compared, and the new stream. took: ns."""
    count, size = int(made.state["messages"]), int(made.state["bytes"])
    part = f", {format_bytes(made.moved)} of it now" if made.begun_at != 1 else ""
    told = [
        f"Copied Stream {source.stream} to {target.stream}: {format_count(count)} messages, "
        f"{format_bytes(size)}{part} in {format_duration(took)}, {rate(made.moved, took)}"
    ]
    if found is None:
        told.append("Not compared")
    elif not found.failures:
        told.append(
            f"Compared {format_count(found.compared)} messages: sequences, subjects, headers, times and data "
            "are the same"
        )
    else:
        told.append(
            f"Compared {format_count(found.compared)} messages: {format_count(found.failures)} differ"
        )
        told += [f"  {sequence} is missing" for sequence in sorted(found.missing)]
        told += [f"  {sequence} has another {what}" for sequence, what in sorted(found.different.items())]
    if found is not None and found.gone:
        told.append(f"{format_count(found.gone)} of them have left Stream {source.stream} since")
    result = stream_info.sheet(made.info)
    document: Json = {
        "source": source.stream,
        "destination": target.stream,
        "messages": count,
        "bytes": size,
        "moved_bytes": made.moved,
        "begun_at": made.begun_at,
        "duration": took,
        "comparison": found.record() if found else None,
        "info": made.info,
    }
    status = ExitStatus.FAILURE if failed else ExitStatus.OK
    parts = [Text("\n".join(told), "bad" if failed else ""), *result.parts]
    return Result(parts, data=document, status=status)
