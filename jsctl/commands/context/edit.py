"""`jsctl context edit`."""

import json

from jsctl.base.files import read_text
from jsctl.commands.cli import argument, command
from jsctl.commands.editing.editor import edit_text
from jsctl.commands.picking.pick import pick
from jsctl.contexts.model import KEYS, Context, drop_marks
from jsctl.contexts.store import parse
from jsctl.env import Env
from jsctl.views.context import info as view
from jsctl.views.result import Result


@command("edit", examples=["jsctl context edit hub"])
@argument("name", noun="context", default="")
async def edit(env: Env, name: str) -> Result:
    store = env.contexts
    name = await pick(env, "context", name, default=store.selected())
    path = store.path(name)
    if not path.exists():
        raise store.missing(name)
    before = read_text(path, "context", regular=True, errors="replace")
    try:
        before = json.dumps({**KEYS, **drop_marks(parse(before))}, indent=2, ensure_ascii=False)
    except ValueError as error:
        env.say(f"jsctl: context {name} cannot be read: {error}; the editor shows its text unchanged")

    async def save(text: str) -> Context:
        return store.save(name, parse(text))

    context = await edit_text(env, before + "\n", f"{name}.json", save, parent=path.parent)
    if context is None:
        env.inform(f"context {name} was not changed")
        return Result(data=lambda: view.info_page(store.load(name)).document())
    return view.info_page(context)
