"""Editing a value in EDITOR: it is stored only in place of the value that the editor showed."""

from jsctl.base.command_lines import build_line
from jsctl.commands.editing.editor import edit_text
from jsctl.commands.kv.shared import open_named
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.kv import read, write
from jsctl.jetstream.kv.names import parse_existing_key
from jsctl.views.kv import changes as view
from jsctl.views.result import Result, Text


async def edit_value(env: Env, name: str, text: str, *, dry_run: bool) -> Result:
    """Let the user edit the value of a key.

    Raises BadInput for one that is not text, Conflict when somebody else has changed it meanwhile.
    """
    if dry_run:
        raise BadInput("--dry-run is for configurations", "leave it out, or leave out KEY")
    bucket = await open_named(env, name)
    key = parse_existing_key(text)
    entry = await read.get(bucket, key)
    try:
        before = entry.value.decode()
    except UnicodeDecodeError:
        raise BadInput(
            f"the value of key {key} is not text",
            f"{build_line('kv get', bucket.name, key, flags=['--raw'])} and"
            f" {build_line('kv put', bucket.name, key)} change it as a file",
        ) from None
    expected = entry.revision

    async def store_value(edited: str) -> int:
        nonlocal expected
        # Editors end the last line; a value that had no line end gets none.
        after = edited if before.endswith("\n") else edited.removesuffix("\n")
        try:
            return await write.update(bucket, key, after.encode(), expected)
        except write.Conflict as conflict:
            expected = conflict.newest.revision
            raise write.Conflict(
                f"key {key} was changed meanwhile, to revision {expected}",
                "what you store now replaces that" if env.can_ask else "edit it again",
                conflict.newest,
            ) from None

    revision = await edit_text(env, before, _build_file_name(key, before), store_value)
    if revision is None:
        unchanged = {"bucket": bucket.name, "key": key, "revision": expected, "changed": False}
        return Result([Text("the value was left as it is")], data=unchanged)
    return view.stored(bucket.name, key, revision)


def _build_file_name(key: str, value: str) -> str:
    """Return the name of the file that the editor shows; its ending fits the content."""
    name = "".join(c if c.isalnum() or c in "-_." else "_" for c in key)[-100:].lstrip(".") or "value"
    return name if "." in name else f"{name}.{'json' if value.lstrip()[:1] in ('{', '[') else 'txt'}"
