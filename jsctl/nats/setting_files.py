"""Files that settings name: credentials, seeds, certificates. They are read from `Settings.files` if it
holds their texts, otherwise from disk."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from jsctl.base import files
from jsctl.contexts.model import expand_path
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput


def read_text(settings: Settings, path: str, kind: str) -> str:
    """Return the text of a file. kind: what errors call it. Raises BadInput."""
    if path in (texts := dict(settings.files)):
        return texts[path]
    try:
        exists = expand_path(path).exists()
    except (OSError, ValueError):
        exists = True  # reading says what is wrong
    if not exists:
        raise BadInput(f"{kind} {path} does not exist")
    return files.read_text(expand_path(path), kind, errors="replace")


@contextlib.contextmanager
def on_disk(settings: Settings, path: str, kind: str) -> Iterator[str]:
    """Yield the path of a readable file: the file itself, or a temporary copy where `Settings.files` has its
    text, and of a pipe, which was read."""
    text = read_text(settings, path, kind)
    if path not in dict(settings.files) and expand_path(path).is_file():
        yield str(expand_path(path))
        return
    if hasattr(os, "memfd_create"):  # in memory, so that no copy stays on disk however this process ends
        descriptor = os.memfd_create("pem")
        try:
            os.write(descriptor, text.encode())
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
        return
    import tempfile

    with tempfile.TemporaryDirectory(prefix="jsctl-") as folder:  # for this user only
        copy = Path(folder, "pem")
        copy.write_text(text)
        yield str(copy)
