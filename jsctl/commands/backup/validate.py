"""`jsctl backup validate`."""

from jsctl.commands.backup.paths import resolve_backup_path
from jsctl.commands.backup.source import progress_flag, showing_progress, source_argument
from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.jetstream.backup.files import opening_backup
from jsctl.jetstream.backup.verification import read_backup
from jsctl.views.backup import info as view
from jsctl.views.result import Result


@command("validate", examples=["jsctl backup validate /data/backup/ORDERS"])
@source_argument
@progress_flag
def validate(env: Env, source: str, progress: bool) -> Result:
    """Read SOURCE, a folder or .tgz file, to its end: every checksum, every entry, and the digest, if it has
    one. No server is asked. The exit status is not 0 for a damaged backup, and the last intact entry is
    named.
    """
    with (
        opening_backup(resolve_backup_path(source)) as backup,
        showing_progress(env, "Validating", backup, progress=progress) as advance,
    ):
        scan = read_backup(backup, advance)
    return view.valid(backup, scan)
