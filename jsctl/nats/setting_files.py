"""Files that settings name: credentials, seeds, certificates. They are read from disk, or from
`Settings.files` where the settings bring their texts along."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from jsctl import files
from jsctl.contexts.model import expand_path
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput


def read_text(settings: Settings, path: str, what: str) -> str:
    """Return the text of a file. what: how errors call it. Raises BadInput."""
    if path in (texts := dict(settings.files)):
        return texts[path]
    try:
        exists = expand_path(path).exists()
    except (OSError, ValueError):
        exists = True  # reading says what is wrong
    if not exists:
        raise BadInput(f"{what} {path} does not exist")
    return files.read_text(expand_path(path), what, errors="replace")


@contextlib.contextmanager
def on_disk(settings: Settings, path: str, what: str) -> Iterator[str]:
    """Yield the name of a file that can be read: the file, or a temporary copy where the settings bring its
    text along."""
    text = read_text(settings, path, what)
    if not settings.files:
        yield str(expand_path(path))
        return
    if hasattr(os, "memfd_create"):  # never on a disk, whatever ends this process
        memory = os.memfd_create("pem")
        try:
            os.write(memory, text.encode())
            yield f"/proc/self/fd/{memory}"
        finally:
            os.close(memory)
        return
    import tempfile

    with tempfile.TemporaryDirectory(prefix="jsctl-") as folder:  # for this user only
        copy = Path(folder, "pem")
        copy.write_text(text)
        yield str(copy)
