"""`jsctl context copy`."""

from jsctl.commands.cli import argument, command, option
from jsctl.commands.context._save import layer, save
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.result import Result


@command(
    "copy", examples=["jsctl context copy hub hub-leaf --js-domain leaf --description 'leaf, by way of hub'"]
)
@argument("source", noun="context")
@argument("name")
@option("--description", metavar="TEXT", help="Friendly description, shown when listing")
@option("--select", "-S", "select_it", is_flag=True, help="Select the new context")
@option("--nsc", metavar="URL", help="User to look up with nsc: nsc://operator/account/user")
def copy(
    env: Env, source: str, name: str, description: str | None, select_it: bool, nsc: str | None
) -> Result:
    store = env.contexts
    base = store.load(source)
    if store.exists(name):
        raise BadInput(f"context {name!r} exists already", "jsctl context rm removes it")
    return save(env, name, base, layer(env, description, nsc), select=select_it)
