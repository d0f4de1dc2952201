"""Refuse `trigger(continuous=...)`, with which Spark passes no row to a sink that is written in Python.

Its tasks then call `write` for each row, which does nothing (Spark 4.3, PythonBatchWriterFactory.scala:
an error is made there, and not thrown); nothing of the sink is called in tasks. On the driver Spark calls
`streamWriter` (WriteToContinuousDataSourceExec.scala), and for every epoch `commit`, with null in place
of the message of each task (EpochCoordinator.scala). Neither learns the trigger, but both see a trace of
it.

A batch is in the folder `offsets` of the checkpoint before its writer is made; an epoch gets there when
it ends. So a query whose checkpoint has no offsets when its writer is made has a continuous trigger, and
fails at once. Where the checkpoint cannot be seen, or has batches of another trigger, the first commit
fails: Spark logs that and commits nothing more, so that a query with another trigger reads everything
again.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from jsctl.errors import BadInput
from jsctl.spark.session.folders import parse_folder
from jsctl.spark.source.failures import log

_PATIENCE = 2.0  #: seconds until a file that was written is seen, also through a network


def refuse_continuous_trigger(options: Mapping[str, str]) -> None:
    """Raise BadInput when the checkpoint that a query's options name says that its trigger is continuous."""
    location = next((value for name, value in options.items() if name.lower() == "checkpointlocation"), "")
    try:
        checkpoint = parse_folder(location, "checkpointLocation")
    except BadInput:  # in a file system of others
        return
    if not location or not checkpoint.is_absolute() or not (checkpoint / "metadata").exists():
        return
    deadline = time.monotonic() + _PATIENCE
    while _has_no_offsets(checkpoint / "offsets"):
        if time.monotonic() > deadline:
            raise _continuous_error()
        time.sleep(0.1)


def check_messages(messages: Sequence[object]) -> None:
    """Raise BadInput when tasks that are to be committed wrote nothing. messages: of the tasks."""
    if any(message is None for message in messages):
        error = _continuous_error()
        log.error("jsctl: %s", error)
        raise error


def _has_no_offsets(folder: Path) -> bool:
    try:
        return not any(file.name.isdigit() for file in folder.iterdir())
    except OSError:
        return False  # nothing is known


def _continuous_error() -> BadInput:
    return BadInput(
        "Spark passes no rows to this sink with trigger(continuous=...)",
        "write with trigger(processingTime=...) or availableNow",
    )
