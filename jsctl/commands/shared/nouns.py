"""The names that a noun of the registry has now."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from jsctl.registry import Noun

if TYPE_CHECKING:
    from jsctl.env import Env
    from jsctl.jetstream.api import Api


async def list_names(env: "Env", noun: Noun, parent: str = "", api: "Api | None" = None) -> list[str]:
    """All names, sorted. parent: the name that theirs are in. api: where, instead of the command line's."""
    if noun.offline:
        return list_offline(env, noun)
    return sorted(await load(noun.lister)(api or await env.jetstream(), *([parent] if noun.parent else [])))


def list_offline(env: "Env", noun: Noun) -> list[str]:
    """As list_names, for a noun whose names are on this machine."""
    return sorted(load(noun.lister)(env.environ))


def load(target: str) -> Any:
    """What "module:attribute" names."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)
