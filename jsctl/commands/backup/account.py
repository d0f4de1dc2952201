"""`jsctl backup account`."""

from jsctl.base.units import format_bytes, pluralize
from jsctl.commands.backup.encryption import encrypt_flag
from jsctl.commands.backup.paths import resolve_backup_path
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.observers.transfers import TerminalObserver
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.backup.account_backup import backup_account, measure_account
from jsctl.jetstream.backup.account_files import check_encrypted, describe_existing
from jsctl.jetstream.backup.encryption import parse_recipients
from jsctl.jetstream.backup.stream_backup import BackupOptions
from jsctl.views.backup import account as view
from jsctl.views.result import Result
from jsctl.views.shared.transfers import backup_intent


@command(
    "account",
    examples=["jsctl backup account /data/backup", "jsctl backup account /data/backup --overwrite --check"],
)
@argument("target", default="")
@option("--check", is_flag=True, help="Have the server check every message first")
@option("--consumers/--no-consumers", default=True, help="Also back up the consumers")
@encrypt_flag
@destructive(
    "Replace an older backup once the new one is complete",
    "Only show what would be saved",
    also=["--overwrite"],
)
@option("--critical-warnings", "-w", is_flag=True, help="Treat warnings as failures")
@option(
    "--data",
    is_flag=True,
    hidden=True,
    expose_value=False,
    help="Older form: messages are always part of the backup",
)
async def account(
    env: Env,
    target: str,
    check: bool,
    consumers: bool,
    recipients: tuple[str, ...],
    force: bool,
    critical_warnings: bool,
) -> Result:
    """Write a folder for each stream into TARGET, as jsctl backup stream does. A stream that fails does not
    stop the others; it is named at the end, and the exit status is not 0.

    With --encrypt-to, only the names of the streams are in clear, as those of the folders.
    """
    keys = parse_recipients(recipients)
    target = target or await env.prompter.text("Folder to write", flag="TARGET", check=_is_given)
    path = resolve_backup_path(target)
    api = await env.jetstream()
    if env.dry_run:
        check_encrypted(path, keys)
        existing = describe_existing(path)
        names, size = await measure_account(api)
        facts = {"streams": len(names), "bytes": size}
        description = f"{pluralize(len(names), 'stream')} with {format_bytes(size)}"
        env.announce(backup_intent(description, path, existing, facts))
    if env.mirrors_nats:  # BACKUP_EXISTS
        if not force and not env.can_ask:
            raise BadInput("cannot ask whether to back up all streams without a terminal", "use --force")
        if existing := describe_existing(path):
            raise JsctlError(f"{path} holds {existing}", "choose another folder")
    result = await backup_account(
        api,
        path,
        BackupOptions(consumers=consumers, check=check, recipients=keys),
        TerminalObserver(env, force=force),
        strict=critical_warnings,
    )
    return view.outcomes(f"Backup in {path}", result, "saved")


def _is_given(answer: str) -> None:
    if not answer.strip():
        raise ValueError("name a folder")
