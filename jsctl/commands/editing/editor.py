"""Text in the user's own editor."""

import shlex
import shutil
import signal
import subprocess
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

from jsctl.base.files import CONFIG_SIZE, keep_folder, read_text, temporary_folder
from jsctl.base.signals import interrupt_handler
from jsctl.env import Env
from jsctl.errors import BadInput, Cancelled, ExitStatus, JsctlError

T = TypeVar("T")

_DEFAULTS = ("vi", "nano")


async def edit_text(
    env: Env, text: str, name: str, apply: Callable[[str], Awaitable[T]], *, parent: Path | None = None
) -> T | None:
    """Let the user edit a text, and pass the edited text to `apply`. Returns what `apply` returns; None when
    the text was not changed.

    When `apply` raises JsctlError or ValueError the user may continue to edit. A changed text that was not
    applied is kept, and a message says where; any other is removed. Texts that killed processes left are
    removed first.

    name: that of the file that the editor shows. parent: the folder for the text, by default that for
    temporary files; for secrets, which stay where they are. Raises BadInput, Cancelled, JsctlError.
    """
    editor = _find_editor(env)
    # A folder of its own (0700): editors leave backups and swap files beside the text.
    with temporary_folder("jsctl-edit-", parent) as folder:
        file = folder / name
        file.touch(mode=0o600)
        file.write_text(text, encoding="utf-8", errors="backslashreplace")
        while True:
            failure = _run_editor(editor, file)
            edited = read_text(file, "", CONFIG_SIZE, regular=True, errors="replace")
            is_changed = edited.rstrip() != text.rstrip()
            if failure is not None:
                if is_changed:
                    keep_folder(folder)
                hint = f"nothing was changed, your text is in {file}" if is_changed else "nothing was changed"
                raise JsctlError(failure, hint)
            if not is_changed:
                return None
            try:
                return await apply(edited)
            except Cancelled:
                raise
            except (JsctlError, ValueError) as error:
                question = f"{error}. Edit again?"
                if env.can_ask and await env.prompter.confirm(question, flag="EDITOR", default=True):
                    continue
                keep_folder(folder)
                refusal = JsctlError(str(error), f"nothing was changed, your text is in {file}")
                refusal.status = error.status if isinstance(error, JsctlError) else ExitStatus.USAGE
                raise refusal from None
            except BaseException:  # ctrl-C
                keep_folder(folder)
                env.say(f"jsctl: your text is in {file}")
                raise


def _find_editor(env: Env) -> list[str]:
    """Return the command of the user's editor; on a terminal, vi or nano if none is set. Raises BadInput."""
    editor = env.environ.get("VISUAL", "").strip() or env.environ.get("EDITOR", "").strip()
    try:
        words = shlex.split(editor)
    except ValueError as error:
        raise BadInput(f"cannot start the editor {editor!r}: {error}") from None
    if not words and env.can_ask:
        path = env.environ.get("PATH")
        words = [program for name in _DEFAULTS if (program := shutil.which(name, path=path))][:1]
    if not words:
        raise BadInput("no editor is set", "set EDITOR to your editor")
    return words


def _run_editor(editor: Sequence[str], file: Path) -> str | None:
    """Run the editor until it ends. Returns what went wrong; None for nothing."""
    try:
        # Ctrl-C is for the editor. Not SIG_IGN, which the editor would inherit.
        with interrupt_handler(lambda number, frame: None):
            status = subprocess.run([*editor, str(file)], check=False).returncode
    except OSError as error:
        return f"cannot start the editor {editor[0]!r}: {error.strerror}"
    if status < 0:
        return f"the editor was ended by {signal.Signals(-status).name}"
    return f"the editor ended with status {status}" if status else None
