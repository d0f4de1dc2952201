"""`jsctl account backup`."""

from dataclasses import dataclass

from jsctl.commands.cli import argument, command, option
from jsctl.commands.shared.transfers import TerminalObserver, backup_path
from jsctl.env import Env
from jsctl.jetstream.backup.account_backup import AccountBackupOptions, backup_account
from jsctl.jetstream.backup.stream_backup import BackupOptions
from jsctl.views.account import backup as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    target: str
    check: bool
    consumers: bool
    force: bool
    critical_warnings: bool
    data: bool


@command(
    "backup",
    options=Options,
    examples=["jsctl account backup /data/backup", "jsctl account backup /data/backup --force --check"],
)
@argument("target", default="")
@option("--check", is_flag=True, help="Have the server check every message first")
@option("--consumers/--no-consumers", default=True, help="Also back up the consumers")
@option("--force", "-f", is_flag=True, help="Replace an existing backup without asking")
@option("--critical-warnings", "-w", is_flag=True, help="Treat warnings as failures")
@option("--data", is_flag=True, hidden=True, help="Older form: messages are always part of the backup")
async def backup(env: Env, options: Options) -> Result:
    """TARGET gets a folder for each stream, as jsctl stream backup makes it. A stream that fails does not
    stop the others; it is named at the end, and the exit status says so.
    """
    target = options.target or await env.prompter.text("Folder to write", flag="TARGET", check=_is_given)
    path = backup_path(target)
    result = await backup_account(
        await env.jetstream(),
        path,
        AccountBackupOptions(
            stream=BackupOptions(consumers=options.consumers, check=options.check),
            strict=options.critical_warnings,
        ),
        TerminalObserver(env, force=options.force),
    )
    return view.outcomes(f"Backup in {path}", result, "saved")


def _is_given(answer: str) -> None:
    if not answer.strip():
        raise ValueError("name a folder")
