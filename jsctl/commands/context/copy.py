"""`jsctl context copy`."""

from jsctl.base.command_lines import build_line
from jsctl.commands.cli import argument, command
from jsctl.commands.context.saving import ContextFlags, collect_values, context_flags, save
from jsctl.commands.picking.pick import pick
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.prompts.contexts import ask_name
from jsctl.views.result import Result


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
