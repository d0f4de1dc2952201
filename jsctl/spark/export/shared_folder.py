"""A check that Spark wrote to a folder that this machine sees. If a folder is not shared, executors write to
their own disks, and Spark does not notice that its table is scattered."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from jsctl.errors import JsctlError
from jsctl.spark.session.cluster import runs_elsewhere

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_ERRORS_OF_ABSENT_FILES = ("FILE_NOT_EXIST", "FileNotFound", "PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA")


def check_visible(spark: "SparkSession", folder: object, rows: int, read: Callable[[], "DataFrame"]) -> None:
    """Raise JsctlError unless both this machine and Spark's see everything that Spark wrote to `folder`.

    Args:
        rows: how many rows Spark wrote.
        read: returns the folder as a table.
    """
    if not isinstance(folder, Path):
        return  # Spark sees what this machine sees: it is what looks
    if not folder.is_dir():
        raise build_error(folder)
    if not rows or not runs_elsewhere(spark):
        return
    try:
        table = read()
        files = [Path(unquote(urlsplit(name).path)) for name in table.inputFiles()]
        is_complete = all(file.exists() for file in files) and table.count() == rows
    except Exception as error:
        if not any(name in str(error) for name in _ERRORS_OF_ABSENT_FILES):
            raise
        is_complete = False
    if not is_complete:
        raise build_error(folder)


def build_error(folder: Path) -> JsctlError:
    """Return the error about a folder of which this machine does not see everything."""
    return JsctlError(
        f"this machine does not see all of what Spark wrote to {folder.name}",
        "the folder must be on a file system that this machine and all machines of Spark share, at the same"
        " path",
    )
