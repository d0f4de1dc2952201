"""What a tab completes to, beyond commands and flags: the names of the registry's nouns.

A completion never fails and never waits long: whatever goes wrong completes to nothing.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from jsctl import registry

if TYPE_CHECKING:
    from jsctl.env import Env

Completer = Callable[[click.Context, click.Parameter, str], list[str]]

_PATIENCE = "1s"


def names_of(name: str) -> Completer:
    """A click completion of the names of a noun; those of its parent that stands before it on the line."""

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
                env.flags.setdefault("timeout", parse_duration(_PATIENCE))
                names = env.run(list_names(env, noun, parent))
        except (JsctlError, OSError, AttributeError):
            return []
        return [one for one in names if one.startswith(incomplete)]

    return complete
