"""`jsctl context edit`."""

import json
import shlex
import subprocess
import tempfile
from pathlib import Path

from jsctl.commands import complete
from jsctl.commands.cli import argument, command
from jsctl.contexts.model import KEYS
from jsctl.contexts.store import parse
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.views import contexts as view
from jsctl.views.result import Result


@command("edit", examples=["jsctl context edit hub"])
@argument("name", shell_complete=complete.contexts)
async def edit(env: Env, name: str) -> Result | None:
    """Edit a context in your EDITOR"""
    store = env.contexts
    path = store.path(name)
    if not path.exists():
        raise NotFound(f"unknown context {name!r}", "jsctl context ls shows what is there")
    editor = env.environ.get("VISUAL") or env.environ.get("EDITOR") or ""
    if not editor.strip():
        raise BadInput("no editor is set", "set EDITOR to the one of your choice")
    before = path.read_text(encoding="utf-8", errors="replace")
    try:
        before = json.dumps({**KEYS, **parse(before)}, indent=2, ensure_ascii=False)
    except ValueError as error:
        env.say(f"jsctl: context {name} is broken, {error}: this is its text as it is")
    # A folder of its own (0700): editors leave backups and swap files beside the text.
    folder = Path(tempfile.mkdtemp(prefix="jsctl-"))
    copy = folder / f"{name}.json"
    copy.touch(mode=0o600)
    copy.write_text(before + "\n", encoding="utf-8", errors="backslashreplace")
    try:
        while True:
            _edit(editor, copy)
            text = copy.read_text(encoding="utf-8", errors="replace")
            if text.rstrip() == before.rstrip():
                env.say(f"context {name} was not changed")
                return None
            try:
                saved = store.save(name, parse(text))
                before = text  # nothing is left to keep
                return view.info(saved)
            except ValueError as error:
                message = f"{copy}: {error}"
                if not env.can_ask or not await env.prompter.confirm(
                    f"{message}. Edit again?", flag="EDITOR", default=True
                ):
                    raise BadInput(message, "the context is unchanged, your text is in that file") from None
    finally:
        if copy.read_text(encoding="utf-8", errors="replace").rstrip() == before.rstrip():
            import shutil

            shutil.rmtree(folder, ignore_errors=True)


def _edit(editor: str, file: Path) -> None:
    try:
        status = subprocess.run([*shlex.split(editor), str(file)], check=False).returncode
    except (OSError, ValueError) as error:
        raise JsctlError(f"cannot start the editor {editor!r}: {error}") from None
    if status:
        raise JsctlError(
            f"the editor ended with status {status}", f"nothing was saved, the text is in {file}"
        )
