"""`jsctl context rm`."""

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.picking.pick import pick
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.views.intent import Intent
from jsctl.views.result import Result


@command("rm", examples=["jsctl context rm old", "jsctl context rm old --force"])
@argument("name", noun="context", default="")
@destructive("Remove without asking, even the selected context", missing_ok=True)
async def rm(env: Env, name: str, force: bool) -> Result:
    store = env.contexts
    if force and not name:
        raise BadInput("--force needs the context's name", "specify NAME")
    name = await pick(env, "context", name)
    if not store.exists(name):
        if force:
            env.inform(f"there is no context {name}, nothing was changed")
            return Result(data={"context": name, "removed": False})
        raise store.missing(name)
    if store.selected() == name and not force and store.names() != [name]:
        raise JsctlError(
            f"context {name!r} is selected", "select another one, clear the selection, or use --force"
        )
    await env.confirm(Intent(f"delete context {name}", {"context": name}), force=force)
    store.remove(name)
    return Result(data={"context": name, "removed": True})
