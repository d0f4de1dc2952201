"""`jsctl backup prune`."""

from jsctl.commands.backup.paths import resolve_backup_path
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.env import Env
from jsctl.jetstream.backup.prune import parse_retention, plan_prune, remove
from jsctl.views.backup import prune as view
from jsctl.views.result import Result


@command(
    "prune",
    columns=view.COLUMNS,
    examples=[
        "jsctl backup prune /data/backup --keep 7d,4w --dry-run",
        "jsctl backup prune /data/backup --keep 7d,4w --force",
    ],
)
@argument("folder", label="Folder with backups", path=True)
@option(
    "--keep", metavar="DAYS,WEEKS", required=True, help="Days and weeks to keep backups of, such as 7d,4w"
)
@destructive("Remove without asking", "Only show what would be removed")
async def prune(env: Env, folder: str, keep: str, force: bool) -> Result:
    """Remove older backups of streams in FOLDER: each stream keeps the newest one of its last days and weeks
    that have one, in UTC. What a link needs that is kept, or that cannot be read, is kept as well; so is what
    does not say when it was made, or holds other files. Links in other folders are not looked for, and what
    is kept is not validated: jsctl doctor --backups does that.
    """
    path = resolve_backup_path(folder)
    candidates = plan_prune(path, parse_retention(keep))
    outdated = [candidate for candidate in candidates if not candidate.reasons]
    intent = view.intent(path, candidates)
    env.announce(intent)
    if outdated:
        await env.confirm(intent, force=force)
        for candidate in remove(outdated):
            env.inform(f"removed {candidate.path}")
    return view.pruned(path, candidates)
