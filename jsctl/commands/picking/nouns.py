"""Lists of the names of the registry's nouns."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from jsctl.registry.noun_record import Noun

if TYPE_CHECKING:
    from jsctl.env import Env
    from jsctl.jetstream.api import Api


async def list_names(env: "Env", noun: Noun, parent: str = "", api: "Api | None" = None) -> list[str]:
    """List all names, sorted.

    parent: the name of the thing that contains them. api: used instead of the command line's API.
    """
    if noun.offline:
        return list_offline(env, noun)
    return sorted(await load(noun.lister)(api or await env.jetstream(), *([parent] if noun.parent else [])))


def list_offline(env: "Env", noun: Noun) -> list[str]:
    """List all names, sorted, of a noun whose names are on this machine."""
    return sorted(load(noun.lister)(env.environ))


def load(target: str) -> Any:
    """Import what "module:attribute" names."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)
