"""`jsctl backup info`."""

from jsctl.commands.backup.encryption import identity_flag
from jsctl.commands.backup.source import opening_source, progress_flag, showing_progress, source_argument
from jsctl.commands.cli import command, option
from jsctl.env import Env
from jsctl.jetstream.backup.verification import read_backup
from jsctl.views.backup import info as view
from jsctl.views.result import Result


@command(
    "info",
    columns=view.COLUMNS,
    examples=["jsctl backup info /data/backup/ORDERS", "jsctl backup info ORDERS.tgz --subjects"],
)
@source_argument
@identity_flag
@option("--subjects", is_flag=True, help="Also list the subjects, with their messages")
@progress_flag
def info(env: Env, source: str, subjects: bool, identity: str, progress: bool) -> Result:
    """Read all of SOURCE, a folder or .tgz file, or - for one on stdin. No server is asked."""
    with (
        opening_source(env, source, identity) as backup,
        showing_progress(env, "Reading", backup, progress=progress) as advance,
    ):
        scan = read_backup(backup, advance, list_subjects=subjects)
    return view.information(backup, scan, with_subjects=subjects)
