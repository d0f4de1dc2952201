"""`jsctl backup validate`."""

from jsctl.commands.backup.encryption import identity_flag
from jsctl.commands.backup.paths import resolve_backup_path
from jsctl.commands.backup.source import (
    PIPE,
    opening_source,
    progress_flag,
    showing_progress,
    source_argument,
)
from jsctl.commands.cli import command, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.backup.receipt import validate_with_receipt
from jsctl.jetstream.backup.verification import read_backup
from jsctl.views.backup import info as view
from jsctl.views.result import Result


@command(
    "validate",
    examples=[
        "jsctl backup validate /data/backup/ORDERS",
        "jsctl backup validate /data/backup/ORDERS.2 --receipt /data/backup/receipt.json",
    ],
)
@source_argument
@identity_flag
@option("--receipt", metavar="FILE", default="", help="Read only what this file does not name, and add it")
@progress_flag
def validate(env: Env, source: str, receipt: str, identity: str, progress: bool) -> Result:
    """Read SOURCE, a folder or .tgz file, or - for one on stdin, to its end: every checksum, every entry, and
    the digest, if it has one. No server is asked. The exit status is not 0 for a damaged backup, and the last
    intact entry is named. Of a link of a chain, its parents are read as well.

    With --receipt, the parts of a chain that were valid are noted in FILE, and are not read again there as
    long as size and time of their files stay.
    """
    if receipt and source == PIPE:
        raise BadInput("--receipt names files, which a pipe has none of", "leave one of them out")
    with (
        opening_source(env, source, identity) as backup,
        showing_progress(env, "Validating", backup, progress=progress) as advance,
    ):
        if receipt:
            validation = validate_with_receipt(backup, resolve_backup_path(receipt), advance)
            return view.noted(backup, validation)
        scan = read_backup(backup, advance)
    return view.valid(backup, scan)
