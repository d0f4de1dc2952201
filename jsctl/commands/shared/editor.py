"""Text in the user's own editor."""

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError

T = TypeVar("T")


async def edit_text(env: Env, text: str, name: str, read: Callable[[str], T]) -> T | None:
    """What `read` makes of the edited text; None when it was left as it is.

    name: of the file that the editor shows. When `read` raises JsctlError or ValueError the user may go
    on with the text; else it is kept, and the error says where. Raises BadInput, JsctlError.
    """
    editor = env.environ.get("VISUAL") or env.environ.get("EDITOR") or ""
    if not editor.strip():
        raise BadInput("no editor is set", "set EDITOR to the one of your choice")
    # A folder of its own (0700): editors leave backups and swap files beside the text.
    folder = Path(tempfile.mkdtemp(prefix="jsctl-"))
    file = folder / name
    file.touch(mode=0o600)
    file.write_text(text, encoding="utf-8", errors="backslashreplace")
    keep = False
    try:
        while True:
            keep = True
            _run(editor, file)
            edited = file.read_text(encoding="utf-8", errors="replace")
            if edited.rstrip() == text.rstrip():
                keep = False
                return None
            try:
                found = read(edited)
            except (JsctlError, ValueError) as error:
                again = f"{error}. Edit again?"
                if env.can_ask and await env.prompter.confirm(again, flag="EDITOR", default=True):
                    continue
                raise BadInput(str(error), f"nothing was changed, your text is in {file}") from None
            keep = False
            return found
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _run(editor: str, file: Path) -> None:
    try:
        status = subprocess.run([*shlex.split(editor), str(file)], check=False).returncode
    except (OSError, ValueError) as error:
        raise JsctlError(f"cannot start the editor {editor!r}: {error}") from None
    if status:
        raise JsctlError(
            f"the editor ended with status {status}", f"nothing was changed, the text is in {file}"
        )
