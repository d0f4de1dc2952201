"""What the verbs that read a backup without a server share: its argument, and progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from jsctl.base.units import format_bytes
from jsctl.commands.cli import argument, option
from jsctl.env import Env
from jsctl.jetstream.backup.files import Backup

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
def showing_progress(
    env: Env, verb: str, backup: Backup, *, progress: bool, passes: int = 1
) -> Iterator[Callable[[int], None]]:
    """Say what is done with a backup, and show a bar on a terminal; nothing with --json. verb: "Reading"."""
    shown = progress and not env.asks_for_json
    if shown:
        several = f" in {passes} passes" if passes > 1 else ""
        env.inform(f"{verb} backup in {backup.path} with {format_bytes(backup.size)}{several}")
    with env.progress(
        f"{verb} {backup.stream}", backup.size * passes if shown else 0, in_bytes=True
    ) as advance:
        yield advance
