"""`doctor --spark`: the parts with which Spark runs here."""

from collections.abc import Sequence

from jsctl.errors import ExitStatus
from jsctl.views.result import Column, Result, Table, Text

_KEYS = ("part", "version", "source", "path", "error")
_COLUMNS = (
    Column("Part", "part"),
    Column("Version", "version"),
    Column("From", "source", "prose"),
    Column("Path", "path", "prose"),
)


def show(parts: Sequence[tuple[str, str, str, str, str]]) -> Result:
    """Show the parts, and what is wrong with them; the exit status says whether anything is.

    parts: of each its name, version, why it is used, path, and what is wrong with it, empty where unknown.
    """
    rows = [tuple(value or None for value in part) for part in parts]
    table = Table("Spark", _COLUMNS, [row[: len(_COLUMNS)] for row in rows])
    faults = [Text(error, "bad") for *_, error in parts if error]
    return Result(
        [table, *(faults or [Text("Spark can run here", "good")])],
        data=lambda: {"parts": [dict(zip(_KEYS, row, strict=True)) for row in rows]},
        status=ExitStatus.FAILURE if faults else ExitStatus.OK,
        table=table,
    )
