"""Shell completion of the names of the registry's nouns.

It never fails and never waits long: on any error there are no completions, and a server that does not answer
at once is asked behind, while the names of the time before are shown.
"""

import os
from typing import TYPE_CHECKING

import click

from jsctl import registry
from jsctl.commands.cli.declare import given_name
from jsctl.commands.shared.nouns import list_names, list_offline
from jsctl.commands.shared.shells import is_safe
from jsctl.registry.noun_record import Noun
from jsctl.units import parse_duration

if TYPE_CHECKING:
    from jsctl.env import Env

_TIMEOUT = "5s"


def complete_names(noun_name: str, ctx: click.Context, incomplete: str) -> list[str]:
    """Return the names of a noun that begin so, in its parent that is on the command line."""
    env: Env = ctx.obj
    noun = registry.noun(noun_name)
    parent = given_name(ctx, noun.parent)
    if noun.parent and not parent:
        return []
    try:
        names = list_offline(env, noun) if noun.offline else _listed(env, noun, parent)
    except Exception:  # a traceback in the middle of the command line would be worse than no names
        return []
    return [name for name in names if name.startswith(incomplete) and is_safe(name)]


def _listed(env: "Env", noun: Noun, parent: str) -> list[str]:
    """Return the names that a server lists, or those of the time before."""
    from jsctl.commands.shared import name_cache

    env.flags.setdefault("timeout", parse_duration(_TIMEOUT))
    cache = name_cache.NameCache.of(env.settings(), env.environ)
    if env.session:  # of a shell, which is connected and has a limit of its own
        try:
            return env.run(list_names(env, noun, parent))
        except TimeoutError:
            return cache.names(noun.name, parent)

    def fetch() -> None:
        cache.store(noun.name, parent, env.run(list_names(env, noun, parent)))

    wait = name_cache.wait_of(env.environ)
    if hasattr(os, "fork"):
        name_cache.refresh_behind(fetch, wait)
    else:
        env.flags["timeout"] = parse_duration(f"{wait:.3f}s")
        fetch()
    return cache.names(noun.name, parent)
