"""`jsctl context copy`."""

from dataclasses import dataclass

from jsctl import registry
from jsctl.base.command_lines import build_line
from jsctl.commands.cli import argument, command
from jsctl.commands.context.saving import ContextFlags, collect_values, context_flags, save
from jsctl.commands.picking.pick import pick
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.prompts.contexts import ask_name
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    """The flags of `jsctl context copy`; empty names are asked for."""

    source: str
    name: str
    context: ContextFlags


@command(
    "copy",
    examples=["jsctl context copy hub hub-leaf --js-domain leaf --description 'leaf, by way of hub'"],
)
@argument("source", noun="context", default="")
@argument("name", default="")
@context_flags
async def copy(env: Env, options: Options) -> Result:
    store = env.contexts
    base = store.load(
        await pick(env, registry.find_noun("context"), options.source, default=store.selected())
    )
    name = options.name or await ask_name(env.prompter, "Name of the copy")
    if store.exists(name):
        raise BadInput(f"context {name!r} already exists", f"remove it with {build_line('context rm', name)}")
    return save(
        env,
        name,
        base,
        collect_values(env, options.context),
        select=options.context.select_it,
        embed=options.context.embed,
    )
