"""Offsets of streaming queries, as they are in checkpoints and in a query's progress.

The part of a stream is {"stream", "created", "from", "next", "lost", "deleted"}: its name and creation time,
and the half open range of sequences that the batch which ends there reads. A query of one stream has that
part as its offset, one of several has {"streams": {name: part}}.

lost, deleted: how many messages were missing in the range when the batch was planned, at the stream's head
and after it; Spark has no other place for such numbers in a query's progress. deleted is null when it is
unknown (see `plan.count_deleted`). Messages that go missing later are the difference between numInputRows and
next - from - lost - deleted; the tasks that notice warn of it, or fail.
"""

from typing import Any

from jsctl.errors import BadInput
from jsctl.spark.source.options import ReadOptions

Offset = dict[str, Any]
Part = dict[str, Any]


def join_parts(options: ReadOptions, parts: dict[str, Part]) -> Offset:
    """Return the offset of a query from its parts by stream."""
    return parts[options.stream] if options.stream else {"streams": parts}


def split_offset(options: ReadOptions, offset: Offset) -> dict[str, Part]:
    """Return the parts of an offset by stream.

    Raises BadInput when the offset is from a query of other streams.
    """
    query_streams = f"stream {options.stream}" if options.stream else f"streams {', '.join(options.streams)}"
    if "streams" in offset:
        parts: dict[str, Part] = offset["streams"]
        if options.stream:
            raise _other_checkpoint_error(f"streams {', '.join(sorted(parts))}", query_streams)
        return parts
    name = offset.get("stream", options.stream)  # checkpoints of earlier versions have no streams
    if not options.stream or name != options.stream:
        raise _other_checkpoint_error(f"stream {name}" if name else "one stream", query_streams)
    return {name: offset}


def _other_checkpoint_error(checkpoint_streams: str, query_streams: str) -> BadInput:
    return BadInput(
        f"the checkpoint is from a query that reads {checkpoint_streams}, but this one reads {query_streams}",
        "use a separate checkpointLocation for each query",
    )
