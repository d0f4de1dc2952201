"""`jsctl backup prune`."""

from collections.abc import Sequence
from pathlib import Path

from jsctl.base.loops import run_in_thread
from jsctl.base.units import format_rfc3339, pluralize
from jsctl.commands.backup.encryption import get_keys, identity_flag
from jsctl.commands.backup.paths import resolve_backup_path
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.env import Env
from jsctl.jetstream.backup.prune import Candidate, parse_retention, plan_prune, remove
from jsctl.views.intent import Intent
from jsctl.views.result import Column, Result, build_table

_COLUMNS = (
    Column("Backup", "path", read=lambda each: str(each.path)),
    Column("Stream", "stream"),
    Column("Started", "started", read=lambda each: format_rfc3339(each.started) if each.started else None),
    Column("Result", "result", read=lambda each: "kept" if each.reasons else "removed"),
    Column("Reason", "reason", "prose", read=lambda each: "; ".join(each.reasons)),
)


def _build_intent(folder: Path, candidates: Sequence[Candidate]) -> Intent:
    """Return the intent to remove the backups that are not kept."""
    outdated = [candidate for candidate in candidates if not candidate.reasons]
    kept = len(candidates) - len(outdated)
    action = f"remove {len(outdated)} of {pluralize(len(candidates), 'backup')} in {folder}"
    facts = {"folder": str(folder), "removes": [str(each.path) for each in outdated], "keeps": kept}
    lines = [f"Would {action}{':' * bool(outdated)}", *(f"  {each.path}" for each in outdated)]
    return Intent(action, facts, lines)


def _show_candidates(folder: Path, candidates: Sequence[Candidate]) -> Result:
    """Return what was removed and kept, and why."""
    table = build_table(f"Backups in {folder}", _COLUMNS, candidates)
    data = [{column.key: column.get_raw(each) for column in _COLUMNS} for each in candidates]
    return Result([table], data=data)


@command(
    "prune",
    columns=_COLUMNS,
    examples=[
        "jsctl backup prune /data/backup --keep 7d,4w --dry-run",
        "jsctl backup prune /data/backup --keep 7d,4w --force",
    ],
)
@argument("folder", label="Folder with backups", path=True)
@option(
    "--keep", metavar="DAYS,WEEKS", required=True, help="Days and weeks to keep backups of, such as 7d,4w"
)
@identity_flag
@destructive("Remove without asking", "Only show what would be removed")
async def prune(env: Env, folder: str, keep: str, identity: str, force: bool) -> Result:
    """Remove older backups of streams in FOLDER: each stream keeps the newest intact one of its last days and
    weeks that have one, in UTC, which is read to the end. Damaged ones that are newer are kept for you to
    look at. What a link needs that is kept, or that cannot be read, is kept as well; so is what does not say
    when it was made, or holds other files. Encrypted ones need their key, as nobody else knows what a link
    needs. Links in other folders are not looked for.
    """
    path = resolve_backup_path(folder)
    keys = get_keys(env, identity)
    candidates = await run_in_thread(plan_prune, path, parse_retention(keep), keys, advance=lambda size: None)
    outdated = [candidate for candidate in candidates if not candidate.reasons]
    intent = _build_intent(path, candidates)
    env.announce(intent)
    if outdated:
        await env.confirm(intent, force=force)
        for candidate in remove(outdated, keys):
            env.inform(f"removed {candidate.path}")
    return _show_candidates(path, candidates)
