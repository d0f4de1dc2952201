"""Did Spark write where this machine sees it? Unless a folder is shared, executors write to their own disks,
and Spark does not notice that its table is in pieces."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from jsctl.errors import JsctlError
from jsctl.spark.session.cluster import runs_elsewhere

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_ABSENT = ("FILE_NOT_EXIST", "FileNotFound", "PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA")


def check(spark: "SparkSession", folder: Path, rows: int, read: Callable[[], "DataFrame"]) -> None:
    """Raise JsctlError unless the `rows` rows that Spark wrote to `folder` are here, and Spark's machines see
    them, too. read: the folder as a table."""
    if not folder.is_dir():
        raise _hidden(folder)
    if not rows or not runs_elsewhere(spark):
        return
    try:
        table = read()
        files = [Path(unquote(urlsplit(name).path)) for name in table.inputFiles()]
        seen = all(file.exists() for file in files) and table.count() == rows
    except Exception as error:
        if not any(said in str(error) for said in _ABSENT):
            raise
        seen = False
    if not seen:
        raise _hidden(folder)


def _hidden(folder: Path) -> JsctlError:
    return JsctlError(
        f"Spark wrote {folder.name} where this machine does not see it, or not all of it",
        "the folder must be on a file system that this machine and all of Spark's share, at the same path",
    )
