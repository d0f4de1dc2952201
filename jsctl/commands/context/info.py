"""`jsctl context info`."""

from jsctl import registry
from jsctl.commands.cli import argument, command, option
from jsctl.commands.context._check import check, warn_of_variables
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.views.context import contexts as view
from jsctl.views.result import Result


@command("info", examples=["jsctl context info", "jsctl context info hub --connect"])
@argument("name", required=False, noun="context")
@option("--connect", is_flag=True, help="Try to connect with it")
@option("--show-secrets", is_flag=True, help="Show passwords, tokens, JWTs and seeds")
async def info(env: Env, name: str | None, connect: bool, show_secrets: bool) -> Result:
    store = env.contexts
    wanted = name or env.flags.get("context") or store.selected()
    if not wanted:
        raise NotFound("no context is selected and none was named", registry.noun("context").hint)
    context = store.find(wanted)
    checked = await check(env, context, connect=True) if connect else None
    warn_of_variables(env)
    return view.info(context, show_secrets=show_secrets, checked=checked)
