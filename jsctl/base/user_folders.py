"""The user's home, and the folders of the XDG Base Directory Specification."""

import os
from collections.abc import Mapping
from pathlib import Path


def find_home_folder(environ: Mapping[str, str]) -> Path:
    """Return $HOME, or without it the home folder that the system knows, or without that / as in a container:
    who has no account there has no home either.
    """
    if home := environ.get("HOME"):
        return Path(home)
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def expand_home(path: str | Path) -> Path:
    """Return a path with its `~` replaced by a home folder. As in a shell, `~name` stays when there is no
    such user.
    """
    return Path(os.path.expanduser(path))  # noqa: PTH111 pathlib's raises RuntimeError for such a name


def find_config_folder(environ: Mapping[str, str]) -> Path:
    """Return $XDG_CONFIG_HOME, else ~/.config."""
    return _find_folder(environ, "XDG_CONFIG_HOME", ".config")


def find_data_folder(environ: Mapping[str, str]) -> Path:
    """Return $XDG_DATA_HOME, else ~/.local/share."""
    return _find_folder(environ, "XDG_DATA_HOME", ".local/share")


def find_state_folder(environ: Mapping[str, str]) -> Path:
    """Return $XDG_STATE_HOME, else ~/.local/state."""
    return _find_folder(environ, "XDG_STATE_HOME", ".local/state")


def find_cache_folder(environ: Mapping[str, str]) -> Path:
    """Return $XDG_CACHE_HOME, else ~/.cache, whose files may be deleted at any time."""
    return _find_folder(environ, "XDG_CACHE_HOME", ".cache")


def _find_folder(environ: Mapping[str, str], variable: str, below_home: str) -> Path:
    path = environ.get(variable)
    return Path(path) if path else find_home_folder(environ) / below_home
