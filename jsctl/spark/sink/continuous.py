"""The refusal of `trigger(continuous=...)`, with which Spark passes no rows to a sink written in Python.

Its tasks then call `write` for each row, which does nothing (Spark 4.3, PythonBatchWriterFactory.scala:
an error is created there and never thrown); the sink is not called in tasks. On the driver Spark calls
`streamWriter` (WriteToContinuousDataSourceExec.scala), and `commit` for every epoch, with null instead of
the message of each task (EpochCoordinator.scala). Neither receives the trigger, but both can detect it.

A batch is in the folder `offsets` of the checkpoint before its writer is created, an epoch only when it
ends. So a query whose checkpoint has no offsets when its writer is created has a continuous trigger, and
fails at once. If the checkpoint cannot be read, or has batches of another trigger, the first commit
fails: Spark logs that and commits nothing more, so that a query with another trigger reads everything
again.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from jsctl.errors import BadInput
from jsctl.spark.session.folders import parse_folder
from jsctl.spark.source.failures import log

_VISIBILITY_LIMIT = 2.0  #: seconds until a file that was written is seen, also through a network


def refuse_continuous_trigger(options: Mapping[str, str]) -> None:
    """Raise BadInput when the checkpoint in a query's options shows that its trigger is continuous."""
    location = next((value for name, value in options.items() if name.lower() == "checkpointlocation"), "")
    try:
        checkpoint = parse_folder(location, "checkpointLocation")
    except BadInput:  # it is not in a local file system
        return
    if not location or not checkpoint.is_absolute() or not (checkpoint / "metadata").exists():
        return
    deadline = time.monotonic() + _VISIBILITY_LIMIT
    while _has_no_offsets(checkpoint / "offsets"):
        if time.monotonic() > deadline:
            raise _continuous_error()
        time.sleep(0.1)


def check_messages(messages: Sequence[object]) -> None:
    """Raise BadInput when a task to be committed wrote nothing. messages: those of the tasks."""
    if any(message is None for message in messages):
        error = _continuous_error()
        log.error("jsctl: %s", error)
        raise error


def _has_no_offsets(folder: Path) -> bool:
    try:
        return not any(file.name.isdigit() for file in folder.iterdir())
    except OSError:
        return False  # unknown


def _continuous_error() -> BadInput:
    return BadInput(
        "Spark passes no rows to this sink with trigger(continuous=...)",
        "write with trigger(processingTime=...) or availableNow",
    )
