"""What the verbs that read a backup without a server share: its argument, and progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from jsctl.base.standard_streams import has_file
from jsctl.base.units import format_bytes
from jsctl.commands.backup.encryption import get_keys
from jsctl.commands.backup.paths import resolve_backup_path
from jsctl.commands.cli import argument, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.backup.files import Backup, opening_backup, opening_copy

PIPE = "-"
"""In place of a path: stdin, or stdout."""

source_argument = argument(
    "source",
    label="Backup",
    path=True,
    suggestions="jsctl.jetstream.backup.finding:find_stream_backups",
)
progress_flag = option(
    "--progress/--no-progress", default=True, help="Say what is read, with a bar on a terminal"
)


@contextmanager
def opening_source(env: Env, source: str, identity: str) -> Iterator[Backup]:
    """Yield the backup at a path, or the one that stdin has as a .tgz file. Raises NotFound, BadInput,
    JsctlError on a full disk. identity: the flag."""
    keys = get_keys(env, identity)
    if source != PIPE:
        with opening_backup(resolve_backup_path(source), keys) as backup:
            yield backup
        return
    stdin = env.streams.stdin
    if stdin.isatty():
        raise BadInput("a backup is not read from a terminal", "pipe it, or name its path")
    if not has_file(stdin):
        raise BadInput("stdin is not a file or a pipe here", "name the backup's path")
    with open(stdin.fileno(), "rb", closefd=False) as pipe, opening_copy(pipe, Path("stdin"), keys) as backup:
        yield backup


@contextmanager
def showing_progress(
    env: Env, verb: str, backup: Backup, *, progress: bool, passes: int = 1
) -> Iterator[Callable[[int], None]]:
    """Say what is done with a backup, and show a bar on a terminal; nothing with --json. verb: "Reading"."""
    shown = progress and not env.asks_for_data
    if shown:
        several = f" in {passes} passes" if passes > 1 else ""
        env.inform(f"{verb} backup in {backup.path} with {format_bytes(backup.size)}{several}")
    with env.progress(
        f"{verb} {backup.stream}", backup.size * passes if shown else 0, in_bytes=True
    ) as advance:
        yield advance
