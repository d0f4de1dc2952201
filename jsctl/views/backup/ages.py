"""`doctor --backups`."""

from collections.abc import Sequence
from pathlib import Path

from jsctl.base.units import format_duration, format_rfc3339
from jsctl.errors import ExitStatus
from jsctl.jetstream.backup.newest import NewestBackup
from jsctl.views.result import Cell, Column, Result, Table

_COLUMNS = (
    Column("Stream", "stream"),
    Column("Newest Good Backup", "path"),
    Column("Age", "age", "ago"),
    Column("Result", "result"),
    Column("Reason", "reason", "prose"),
)


def ages(folder: Path, backups: Sequence[NewestBackup], now: int, max_age: int) -> Result:
    """Return how old the newest good backup of each stream is; the status is a failure if one is too old.

    now, max_age: in ns.
    """
    rows, data, failed = [], [], False
    for backup in backups:
        age = max(0, now - backup.started) if backup.path else None
        reasons = list(dict.fromkeys(backup.damaged))  # one part may be that of several chains
        if age is None:
            reasons.append("no good backup")
        elif age > max_age:
            reasons.append(f"older than {format_duration(max_age)}")
        failed |= bool(reasons)
        result = Cell("bad", "bad", "bad") if reasons else Cell("ok", "ok")
        path = str(backup.path) if backup.path else None
        rows.append(
            [
                backup.stream,
                path or "",
                age,
                result,
                "; ".join(reasons),
            ]
        )
        data.append(
            {
                "stream": backup.stream,
                "path": path,
                "started": format_rfc3339(backup.started) if path else None,
                "age_ns": age,
                "result": result.raw,
                "reasons": reasons,
            }
        )
    table = Table(f"Backups in {folder}", _COLUMNS, rows)
    return Result([table], data=data, status=ExitStatus.FAILURE if failed else ExitStatus.OK)
