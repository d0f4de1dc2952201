"""`backup account` and `backup restore account`: the outcome of each stream."""

from jsctl.base.units import format_count, format_duration, pluralize
from jsctl.errors import ExitStatus
from jsctl.jetstream.backup.account_files import AccountResult, StreamOutcome
from jsctl.views.intent import NOTHING
from jsctl.views.result import Cell, Column, Part, Result, Style, Table, Text, build_table, recorder

_COLUMNS = (
    Column("Stream", "stream"),
    Column("Messages", "messages", "count"),
    Column("Size", "bytes", "bytes"),
    Column(
        "Result",
        "status",
        read=lambda outcome: Cell(outcome.status, outcome.status, _STYLES.get(outcome.status, "")),
    ),
    Column("Remark", "remark", "prose"),
)
_KEYS = tuple(column.key for column in _COLUMNS)
_STYLES: dict[str, Style] = {"failed": "bad", "warning": "warn"}


def preview(title: str, result: AccountResult) -> Result:
    """Show what `backup restore account --dry-run` would do with each stream; the status is a failure if one
    would fail.
    """
    ordered, failed, table = _collect_streams(title, result)
    failed_note = f"; not {', '.join(failed)}" if failed else ""
    share = f"{format_count(len(ordered) - len(failed))} of {pluralize(len(ordered), 'stream')}"
    text = f"Would restore {share}{failed_note}"
    data = {"dry_run": True, "streams": list(map(recorder(_KEYS), ordered))}
    status = ExitStatus.FAILURE if failed else ExitStatus.OK
    return Result([table, Text(f"{text}\n{NOTHING}", "bad" if failed else "")], data=data, status=status)


def outcomes(title: str, result: AccountResult, participle: str) -> Result:
    """Return a line for each stream; the status is a failure if one failed. participle: "saved" or
    "restored".
    """
    ordered, failed, table = _collect_streams(title, result)
    succeeded, total = len(ordered) - len(failed), len(ordered)
    summary = (
        f"{participle.capitalize()} {format_count(succeeded)} of {pluralize(total, 'stream')}"
        f" in {format_duration(result.duration)}"
    )
    if failed:
        summary += f"; not {', '.join(failed)}"
    parts: list[Part] = [table, Text(summary, "bad" if failed else "")]
    status = ExitStatus.FAILURE if failed else ExitStatus.OK
    return Result(parts, data=list(map(recorder(_KEYS), ordered)), status=status)


def _collect_streams(title: str, result: AccountResult) -> tuple[list[StreamOutcome], list[str], Table]:
    """Return the outcomes by stream, the names of those that failed, and the table."""
    ordered = sorted(result.streams, key=lambda outcome: outcome.stream)
    failed = [outcome.stream for outcome in result.streams if outcome.status == "failed"]
    return ordered, failed, build_table(title, _COLUMNS, ordered)
