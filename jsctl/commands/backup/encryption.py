"""The flags of verbs that write and read encrypted backups."""

from jsctl.commands.backup.paths import resolve_backup_path
from jsctl.commands.cli import option
from jsctl.env import Env
from jsctl.jetstream.backup.encryption import VARIABLE, Keys

encrypt_flag = option(
    "--encrypt-to",
    "recipients",
    metavar="KEY|FILE",
    multiple=True,
    default=(),
    help="Encrypt for this public key of age, or for those in this file; may be repeated",
)
identity_flag = option(
    "--identity",
    metavar="FILE",
    default="",
    help=f"File with the secret key of age that opens encrypted backups; {VARIABLE} names it, too",
)


def get_keys(env: Env, identity: str) -> Keys:
    """Return the keys of the file that --identity or the variable names; it is read when it is needed."""
    path = identity or env.environ.get(VARIABLE, "")
    return Keys(resolve_backup_path(path) if path else None)
