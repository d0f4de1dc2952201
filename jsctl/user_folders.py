"""The user's home, and the folders in it for what programs keep, by the XDG Base Directory Specification."""

import os
from collections.abc import Mapping
from pathlib import Path


def find_home_folder(environ: Mapping[str, str]) -> Path:
    """Return $HOME, or what the system says without it."""
    return Path(environ.get("HOME") or Path.home())


def expand_home(path: str | Path) -> Path:
    """Return a path with its `~` replaced by a home folder; as in a shell, `~name` stays when nobody has the
    name."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 pathlib's raises RuntimeError for such a name


def find_config_folder(environ: Mapping[str, str]) -> Path:
    """Return $XDG_CONFIG_HOME, else ~/.config."""
    return _folder(environ, "XDG_CONFIG_HOME", ".config")


def find_data_folder(environ: Mapping[str, str]) -> Path:
    """Return $XDG_DATA_HOME, else ~/.local/share."""
    return _folder(environ, "XDG_DATA_HOME", ".local/share")


def find_state_folder(environ: Mapping[str, str]) -> Path:
    """Return $XDG_STATE_HOME, else ~/.local/state."""
    return _folder(environ, "XDG_STATE_HOME", ".local/state")


def find_cache_folder(environ: Mapping[str, str]) -> Path:
    """Return $XDG_CACHE_HOME, else ~/.cache: what is in it may be deleted at any time."""
    return _folder(environ, "XDG_CACHE_HOME", ".cache")


def _folder(environ: Mapping[str, str], variable: str, below_home: str) -> Path:
    path = environ.get(variable)
    return Path(path) if path else find_home_folder(environ) / below_home
