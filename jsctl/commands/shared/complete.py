"""Shell completion of the names of the registry's nouns.

It never fails and never waits long: on any error there are no completions.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from jsctl import registry

if TYPE_CHECKING:
    from jsctl.env import Env

Completer = Callable[[click.Context, click.Parameter, str], list[str]]

_TIMEOUT = "1s"


def names_of(name: str) -> Completer:
    """Return a completion function for the names of a noun, in its parent that is on the command line."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        from jsctl.commands.shared.nouns import list_names, list_offline
        from jsctl.errors import JsctlError
        from jsctl.units import parse_duration

        env: Env = ctx.obj
        noun = registry.noun(name)
        parent = ctx.params.get(noun.parent) or ""
        if noun.parent and not parent:
            return []
        try:
            if noun.offline:
                names = list_offline(env, noun)
            else:
                env.flags.setdefault("timeout", parse_duration(_TIMEOUT))
                names = env.run(list_names(env, noun, parent))
        except (JsctlError, OSError, AttributeError):
            return []
        return [one for one in names if one.startswith(incomplete)]

    return complete
