"""Files that tests compare with, and write with JSCTL_GOLDEN=write."""

import os
from collections.abc import Callable
from pathlib import Path

from jsctl.base import posix
from jsctl.base.files import write_atomically


def is_writing() -> bool:
    """Return whether what differs is to be written."""
    return os.environ.get("JSCTL_GOLDEN") == "write"


def rewrite(file: Path, change: Callable[[str], str]) -> None:
    """Replace the text of a file, unless it stays the same; several processes may do so."""
    folder = posix.open_folder(file.parent)
    try:
        posix.lock(folder)
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        if (changed := change(text)) != text:
            write_atomically(file, changed, mode=None, durable=False)
    finally:
        os.close(folder)
