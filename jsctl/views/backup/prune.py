"""`backup prune`."""

from collections.abc import Sequence
from pathlib import Path

from jsctl.base.units import format_rfc3339, pluralize
from jsctl.jetstream.backup.prune import Candidate
from jsctl.views.intent import Intent
from jsctl.views.result import Column, Result, Table, build_cells

COLUMNS = (
    Column("Backup", "path", read=lambda each: str(each.path)),
    Column("Stream", "stream"),
    Column("Started", "started", read=lambda each: format_rfc3339(each.started) if each.started else None),
    Column("Result", "result", read=lambda each: "kept" if each.reasons else "removed"),
    Column("Reason", "reason", "prose", read=lambda each: "; ".join(each.reasons)),
)


def intent(folder: Path, candidates: Sequence[Candidate]) -> Intent:
    """Return the intent to remove the backups that are not kept."""
    outdated = [candidate for candidate in candidates if not candidate.reasons]
    kept = len(candidates) - len(outdated)
    action = f"remove {len(outdated)} of {pluralize(len(candidates), 'backup')} in {folder}"
    facts = {"folder": str(folder), "removes": [str(each.path) for each in outdated], "keeps": kept}
    lines = [f"Would {action}{':' * bool(outdated)}", *(f"  {each.path}" for each in outdated)]
    return Intent(action, facts, lines)


def pruned(folder: Path, candidates: Sequence[Candidate]) -> Result:
    """Return what was removed and kept, and why."""
    table = Table(f"Backups in {folder}", COLUMNS, build_cells(candidates, COLUMNS))
    data = [{column.key: column.get_raw(each) for column in COLUMNS} for each in candidates]
    return Result([table], data=data)
