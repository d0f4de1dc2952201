"""`doctor --spark` and `version`: the parts with which Spark and jsctl run here."""

from collections.abc import Sequence

from jsctl import __version__
from jsctl.errors import ExitStatus
from jsctl.views.result import Column, Result, Table, Text

_KEYS = ("part", "version", "source", "path", "error")
_COLUMNS = (
    Column("Part", "part"),
    Column("Version", "version"),
    Column("From", "source", "prose"),
    Column("Path", "path", "prose"),
)


_Parts = Sequence[tuple[str, str, str, str, str]]
"""Of each part its name, version, why it is used, path, and what is wrong with it, empty where unknown."""


def versions(parts: _Parts) -> Result:
    """Show the version of jsctl, and those of what it runs with; what is missing is no failure."""
    rows = [(name, version, error or source, path) for name, version, source, path, error in parts]
    return Result(
        [Text(f"jsctl {__version__}"), Table("Runs with", _COLUMNS, rows)],
        data=lambda: {"version": __version__, **_build_document(parts)},
    )


def _build_document(parts: _Parts) -> dict[str, object]:
    rows = [tuple(value or None for value in part) for part in parts]
    return {"parts": [dict(zip(_KEYS, row, strict=True)) for row in rows]}


def for_spark(parts: _Parts, good: str = "Spark can run here") -> Result:
    """Show the parts, and what is wrong with them; the exit status says whether anything is.

    good: what to say if nothing is.
    """
    rows = [tuple(value or None for value in part) for part in parts]
    table = Table("Spark", _COLUMNS, [row[: len(_COLUMNS)] for row in rows])
    faults = [Text(error, "bad") for *_, error in parts if error]
    return Result(
        [table, *(faults or [Text(good, "good")])],
        data=lambda: _build_document(parts),
        status=ExitStatus.FAILURE if faults else ExitStatus.OK,
        table=table,
    )
