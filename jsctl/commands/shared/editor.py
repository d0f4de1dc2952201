"""Text in the user's own editor."""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from jsctl import posix
from jsctl.env import Env
from jsctl.errors import BadInput, Cancelled, ExitStatus, JsctlError
from jsctl.files import CONFIG_SIZE, read_text, remove_unused

T = TypeVar("T")

_FOLDER_PREFIX = "jsctl-edit-"
_UNFINISHED = ".unfinished"  #: marks a text that no error has named yet


async def edit_text(
    env: Env, text: str, name: str, apply: Callable[[str], Awaitable[T]], *, parent: Path | None = None
) -> T | None:
    """Let the user edit a text, and pass the edited text to `apply`. Returns what `apply` returns; None when
    the text was not changed.

    When `apply` raises JsctlError or ValueError the user may continue to edit; else the text is kept, and the
    error says where. Texts that killed processes left are removed first.

    name: that of the file that the editor shows. parent: the folder for the text, by default that for
    temporary files; for secrets, which stay where they are. Raises BadInput, Cancelled, JsctlError.
    """
    editor = env.environ.get("VISUAL") or env.environ.get("EDITOR") or ""
    if not editor.strip():
        raise BadInput("no editor is set", "set EDITOR to your editor")
    # A folder of its own (0700): editors leave backups and swap files beside the text.
    _remove_leftovers(parent or Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=_FOLDER_PREFIX, dir=parent))
    lock = posix.open_folder(folder)
    posix.lock(lock)
    (folder / _UNFINISHED).touch()
    file = folder / name
    file.touch(mode=0o600)
    file.write_text(text, encoding="utf-8", errors="backslashreplace")
    keep = True
    try:
        while True:
            _run_editor(editor, file)
            edited = read_text(file, "", CONFIG_SIZE, errors="replace")
            if edited.rstrip() == text.rstrip():
                keep = False
                return None
            try:
                result = await apply(edited)
            except Cancelled:
                keep = False
                raise
            except (JsctlError, ValueError) as error:
                question = f"{error}. Edit again?"
                if env.can_ask and await env.prompter.confirm(question, flag="EDITOR", default=True):
                    continue
                failure = JsctlError(str(error), f"nothing was changed, your text is in {file}")
                failure.status = error.status if isinstance(error, JsctlError) else ExitStatus.USAGE
                raise failure from None
            keep = False
            return result
    finally:
        if keep:
            (folder / _UNFINISHED).unlink(missing_ok=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _remove_leftovers(parent: Path) -> None:
    """Remove the texts that killed processes left: those that are not locked and that no error named."""
    for leftover in parent.glob(f"{_FOLDER_PREFIX}*"):
        remove_unused(leftover, lambda folder, _: (folder / _UNFINISHED).exists())


def _run_editor(editor: str, file: Path) -> None:
    try:
        status = subprocess.run([*shlex.split(editor), str(file)], check=False).returncode
    except (OSError, ValueError) as error:
        raise JsctlError(f"cannot start the editor {editor!r}: {error}") from None
    if status:
        raise JsctlError(
            f"the editor ended with status {status}", f"nothing was changed, the text is in {file}"
        )
