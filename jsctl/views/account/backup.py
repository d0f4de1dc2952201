"""`account backup` and `account restore`: what became of each stream."""

from jsctl.errors import ExitStatus
from jsctl.jetstream.backup.account_files import AccountResult
from jsctl.units import format_count, format_duration
from jsctl.views.result import Cell, Column, Part, Result, Style, Table, Text
from jsctl.views.shared.tables import recorder

_COLUMNS = (
    Column("Stream", "stream"),
    Column("Messages", "messages", "count"),
    Column("Size", "bytes", "bytes"),
    Column("Result", "status"),
    Column("Remark", "remark", "prose"),
)
_KEYS = tuple(column.key for column in _COLUMNS)
_STYLES: dict[str, Style] = {"failed": "bad", "warning": "warn"}


def outcomes(title: str, result: AccountResult, participle: str) -> Result:
    """Return a line for each stream; fails when one failed. participle: "saved" or "restored"."""
    ordered = sorted(result.streams, key=lambda one: one.stream)
    failed = [one.stream for one in result.streams if one.status == "failed"]
    rows = [
        (
            one.stream,
            one.messages,
            one.bytes,
            Cell(one.status, one.status, _STYLES.get(one.status, "")),
            one.remark,
        )
        for one in ordered
    ]
    succeeded, total = len(ordered) - len(failed), len(ordered)
    summary = (
        f"{format_count(succeeded)} of {format_count(total)} streams were {participle} "
        f"in {format_duration(result.duration)}"
    )
    if failed:
        summary += f"; not {', '.join(failed)}"
    parts: list[Part] = [Table(title, _COLUMNS, rows), Text(summary, "bad" if failed else "")]
    status = ExitStatus.FAILURE if failed else ExitStatus.OK
    return Result(parts, data=list(map(recorder(_KEYS), ordered)), status=status)
