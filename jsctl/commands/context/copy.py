"""`jsctl context copy`."""

from dataclasses import dataclass

from jsctl.commands.cli import argument, command
from jsctl.commands.context.saving import ContextFlags, context_flags, save, values_of
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    """The flags of `jsctl context copy`."""

    source: str
    name: str
    context: ContextFlags


@command(
    "copy",
    options=Options,
    examples=["jsctl context copy hub hub-leaf --js-domain leaf --description 'leaf, by way of hub'"],
)
@argument("source", noun="context")
@argument("name")
@context_flags
def copy(env: Env, options: Options) -> Result:
    store = env.contexts
    base = store.load(options.source)
    if store.exists(options.name):
        raise BadInput(f"context {options.name!r} exists already", "remove it with jsctl context rm")
    return save(env, options.name, base, values_of(env, options.context), select=options.context.select_it)
