"""`jsctl backup restore account`."""

from jsctl.commands.backup.encryption import get_keys, identity_flag
from jsctl.commands.backup.paths import resolve_backup_path
from jsctl.commands.cli import argument, command, option
from jsctl.commands.observers.transfers import TerminalObserver, restore_flags
from jsctl.commands.options.data_loss import LossOptions
from jsctl.commands.options.protection import list_concerned, refuse_unknown
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream.backup.account_files import open_account_backup
from jsctl.jetstream.backup.account_restore import AccountRestoreOptions, restore_account
from jsctl.jetstream.stream import requests as streams
from jsctl.views.backup import account as view
from jsctl.views.result import Result


@command(
    "account",
    examples=[
        "jsctl backup restore account /data/backup",
        "jsctl backup restore account /data/backup --update-streams",
    ],
)
@argument(
    "directory",
    label="Folder of the backup",
    path=True,
    suggestions="jsctl.jetstream.backup.finding:find_account_backups",
)
@option("--cluster", metavar="CLUSTER", default="", help="Place the streams in this cluster")
@option("--tag", metavar="TAG", multiple=True, help="Place the streams on servers with this tag")
@option(
    "--update-streams",
    is_flag=True,
    help="Give existing streams the configuration of the backup, and add their missing consumers",
)
@identity_flag
@restore_flags
async def account(
    env: Env,
    directory: str,
    cluster: str,
    tag: tuple[str, ...],
    update_streams: bool,
    identity: str,
    permits: LossOptions,
    force: bool,
) -> Result:
    """Read all of DIRECTORY, which jsctl backup account or the nats tool wrote, and verify its digests first.
    A stream that is damaged or exists does not stop the others; it is named at the end, and the exit status
    is not 0.
    """
    path = resolve_backup_path(directory)
    account_backup = open_account_backup(path, get_keys(env, identity))
    configs = [backup.config for backup in account_backup.backups]
    refuse_unknown(permits.unprotect, [name for config in configs for name in list_concerned(config)])
    for config in configs if env.mirrors_nats else ():  # BACKUP_EXISTS
        if await streams.fetch_info_or_none(await env.jetstream(), config["name"]):
            raise JsctlError(f"stream {config['name']} already exists", "nothing was restored")
    result = await restore_account(
        env.jetstream,
        account_backup,
        path,
        AccountRestoreOptions(
            update=update_streams,
            cluster=cluster,
            tags=tag,
            dry_run=env.dry_run,
        ),
        TerminalObserver(env, permits, force=force),
    )
    if env.dry_run:
        return view.preview(f"Restore from {path}", result)
    return view.outcomes(f"Restore from {path}", result, "restored")
