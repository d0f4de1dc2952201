"""Paths of backups on the command line."""

from pathlib import Path

from jsctl.base.user_folders import expand_home


def resolve_backup_path(text: str) -> Path:
    """Return the path of a backup that was named on the command line; `~` is the home folder."""
    return expand_home(text).absolute()
