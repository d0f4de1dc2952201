"""`jsctl errors edit`."""

import json
from pathlib import Path

from jsctl.commands.cli import argument, command
from jsctl.commands.errors.validate import check
from jsctl.commands.shared.editor import edit_text
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.files import write_atomically
from jsctl.jetstream import error_codes
from jsctl.jetstream.error_codes import Code
from jsctl.views.result import Result


@command("edit", examples=["jsctl errors edit errors.json 10059", "jsctl errors edit errors.json"])
@argument("file")
@argument("code", type=int, default=0)
async def edit(env: Env, file: str, code: int) -> Result | None:
    """Without CODE, or with one that is not there, an error is added under the next free code."""
    found = error_codes.read(file)
    at = next((n for n, entry in enumerate(found) if entry["error_code"] == code), None)
    highest = max((int(entry["error_code"]) for entry in found), default=9999)
    start = found[at] if at is not None else {**error_codes.EMPTY, "error_code": code or highest + 1}
    text = json.dumps(start, indent=2, ensure_ascii=False) + "\n"
    changed = await edit_text(env, text, "error.json", _read)
    if changed is None:
        env.say(f"{file} was not changed")
        return None
    if at is None:
        found.append(changed)
    else:
        found[at] = changed
    _write(Path(file).expanduser(), json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    return check(env, file)


def _read(text: str) -> Code:
    """Raises ValueError for what is no error's definition."""
    entry = json.loads(text)
    if not isinstance(entry, dict):
        raise ValueError("it is no JSON object")
    if wrong := error_codes.problems(entry):
        raise BadInput("; ".join(wrong))
    return entry


def _write(path: Path, text: str) -> None:
    """Replace the file of errors. Raises JsctlError."""
    try:
        write_atomically(path, text, mode=None)
    except OSError as error:
        raise JsctlError(f"cannot write {path}: {error.strerror}") from None
