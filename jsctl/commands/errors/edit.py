"""`jsctl errors edit`."""

import json

from jsctl.base.files import naming_write_errors, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command
from jsctl.commands.editing.editor import edit_text
from jsctl.commands.errors.complete import complete_codes
from jsctl.commands.errors.validate import check
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream import error_catalog
from jsctl.jetstream.error_catalog import Code
from jsctl.views.result import Result


@command("edit", examples=["jsctl errors edit errors.json 10059", "jsctl errors edit errors.json"])
@argument("file", label="File of errors", path=True)
@argument("code", type=int, default=0, shell_complete=complete_codes)
async def edit(env: Env, file: str, code: int) -> Result:
    """Add an error for an unknown CODE; without CODE, use the next free code."""
    entries = error_catalog.read(file)
    index = next((n for n, entry in enumerate(entries) if entry["error_code"] == code), None)
    highest = max((int(entry["error_code"]) for entry in entries), default=9999)
    initial = (
        entries[index] if index is not None else {**error_catalog.EMPTY, "error_code": code or highest + 1}
    )
    text = json.dumps(initial, indent=2, ensure_ascii=False) + "\n"
    edited = await edit_text(env, text, "error.json", _parse_edited)
    if edited is None:
        env.inform(f"{file} was not changed")
        return Result(data={"file": file, "errors": len(entries)})
    if index is None:
        entries.append(edited)
    else:
        entries[index] = edited
    path = expand_home(file)
    with naming_write_errors(path):
        write_atomically(path, json.dumps(entries, indent=2, ensure_ascii=False) + "\n", mode=None)
    return check(env, file)


async def _parse_edited(text: str) -> Code:
    """Parse an edited error. Raises ValueError, BadInput."""
    entry = parse_json(text)
    if not isinstance(entry, dict):
        raise ValueError("it is not a JSON object")
    if problems := error_catalog.find_problems(entry):
        raise BadInput("; ".join(problems))
    return entry
