"""`jsctl context` and its short commands."""

from jsctl import registry
from jsctl.base.command_lines import build_line
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.context.saving import ContextFlags, collect_values, context_flags, save
from jsctl.commands.picking.pick import pick
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.prompts.contexts import ask_name
from jsctl.views.context import info as view
from jsctl.views.intent import Intent
from jsctl.views.result import Result, Text


@command("select", examples=["jsctl context select hub", "jsctl context select"])
@argument("name", noun="context", default="")
async def select(env: Env, name: str) -> Result:
    """Show a list to pick from if there is no name."""
    store = env.contexts
    name = await pick(env, "context", name, default=store.selected())
    context = store.load(name)
    store.select(name)
    return view.info_page(context)


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


@command(
    "copy",
    examples=["jsctl context copy hub hub-leaf --js-domain leaf --description 'leaf, by way of hub'"],
)
@argument("source", noun="context", default="")
@argument("name", default="")
@context_flags
async def copy(env: Env, source: str, name: str, context: ContextFlags) -> Result:
    store = env.contexts
    base = store.load(await pick(env, "context", source, default=store.selected()))
    name = name or await ask_name(env.prompter, "Name of the copy")
    if store.exists(name):
        raise BadInput(f"context {name!r} already exists", f"remove it with {build_line('context rm', name)}")
    return save(env, name, base, collect_values(env, context), context)


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
