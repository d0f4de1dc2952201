"""`jsctl context previous`, `unselect` and `info`."""

from jsctl import registry
from jsctl.base.command_lines import build_line
from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.views.context import info as view
from jsctl.views.result import Result, Text


@command("previous", examples=["jsctl context previous", "jsctl context -"])
def previous(env: Env) -> Result:
    store = env.contexts
    name = store.previous() or store.selected()
    if not name:
        raise NotFound("no context was selected before", f"select one with {build_line('context select')}")
    context = store.load(name)
    store.select(name)
    return view.info_page(context)


@command("unselect", examples=["jsctl context unselect"])
def unselect(env: Env) -> Result:
    name = env.contexts.unselect()
    line = f'Unselected the "{name}" context' if name else "No context currently selected"
    return Result([Text(line)], data={"unselected": name or None})


_VARIABLES = {
    *("server", "user", "password", "token", "creds", "nkey", "jwt", "seed"),
    *("tlscert", "tlskey", "tlsca", "timeout", "socks_proxy", "colors"),
}
"""Global flags whose environment variables override a context."""


@command("info", examples=["jsctl context info", "jsctl context info hub --connect"])
@argument("name", required=False, noun="context")
@option("--connect", is_flag=True, help="Try to connect with it")
@option("--show-secrets", is_flag=True, help="Show passwords, tokens, JWTs and seeds")
async def info(env: Env, name: str | None, connect: bool, show_secrets: bool) -> Result:
    store = env.contexts
    context_name = name or env.flags.get("context") or store.selected()
    if not context_name:
        hint = store.format_select_hint() or registry.find_noun("context").format_create()
        raise NotFound("no context is selected and none was named", hint)
    context = store.find(context_name)
    check = None
    if connect:
        from jsctl.nats.context_check import check_context

        check = await check_context(context, env.flags, connect=True)
    if variables := sorted(str(flag).replace("_", "-") for flag in env.from_environment & _VARIABLES):
        flags = ", ".join(f"--{flag}" for flag in variables)
        verb = "overrides" if len(variables) == 1 else "override"
        env.say(f"jsctl: the environment sets {flags}, which {verb} every context")
    return view.info_page(context, show_secrets=show_secrets, check=check)
