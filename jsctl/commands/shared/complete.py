"""Shell completion of the names of the registry's nouns.

It never fails and never waits long: on any error there are no completions.
"""

from typing import TYPE_CHECKING

import click

from jsctl import registry
from jsctl.commands.cli.declare import given_name
from jsctl.commands.shared.nouns import list_names, list_offline
from jsctl.commands.shared.shells import is_safe
from jsctl.units import parse_duration

if TYPE_CHECKING:
    from jsctl.env import Env

_TIMEOUT = "1s"


def complete_names(noun_name: str, ctx: click.Context, incomplete: str) -> list[str]:
    """Return the names of a noun that begin so, in its parent that is on the command line."""
    env: Env = ctx.obj
    noun = registry.noun(noun_name)
    parent = given_name(ctx, noun.parent)
    if noun.parent and not parent:
        return []
    try:
        if noun.offline:
            names = list_offline(env, noun)
        else:
            env.flags.setdefault("timeout", parse_duration(_TIMEOUT))
            names = env.run(list_names(env, noun, parent))
    except Exception:  # a traceback in the middle of the command line would be worse than no names
        return []
    return [name for name in names if name.startswith(incomplete) and is_safe(name)]
