"""`jsctl context rm`."""

from jsctl.commands.cli import argument, command, option
from jsctl.commands.shared import complete
from jsctl.env import Env
from jsctl.errors import JsctlError, NotFound


@command("rm", examples=["jsctl context rm old", "jsctl context rm old --force"])
@argument("name", shell_complete=complete.contexts)
@option("--force", "-f", is_flag=True, help="Remove without asking, also the selected context")
async def rm(env: Env, name: str, force: bool) -> None:
    store = env.contexts
    if not store.exists(name):
        raise NotFound(f"unknown context {name!r}", "jsctl context ls shows what is there")
    if store.selected() == name and not force and store.names() != [name]:
        raise JsctlError(
            f"context {name!r} is the selected one", "select another, or jsctl context unselect, or --force"
        )
    await env.confirm(f"Really delete context {name}?", force=force)
    store.remove(name)
