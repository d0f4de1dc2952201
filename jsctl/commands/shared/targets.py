"""Which contexts and domains a command is about that looks at several."""

from collections.abc import Sequence
from typing import Any

from jsctl.contexts.settings import Settings, resolve
from jsctl.env import Env
from jsctl.errors import BadInput

_EVERYWHERE = frozenset({"timeout", "colors"})
"""Variables that fit every context; NATS_URL and logins would make all of them one."""


def targets(env: Env) -> list[Settings]:
    """Return the settings of every domain of every context that the command line names, in its order, each
    once.

    Without --context the usual one, without --js-domain each context's own. Raises BadInput, NotFound.
    """
    contexts: list[str | None] = list(dict.fromkeys(env.repeated.get("context", ()))) or [None]
    return [place for name in contexts for place in context_targets(env, name, several=len(contexts) > 1)]


def context_targets(env: Env, context: str | None, *, several: bool) -> Sequence[Settings]:
    """Return the settings of every domain that the command line names, in one context; None is the usual one.

    several: whether there are other contexts. Raises BadInput, NotFound.
    """
    domains: list[str | None] = list(dict.fromkeys(env.repeated.get("js_domain", ()))) or [None]
    flags, variables = dict(env.flags), env.from_environment
    if several:
        if "server" in flags and "server" not in variables:
            raise BadInput("--server goes with at most one --context", "each context has its own")
        flags = {n: v for n, v in flags.items() if n not in variables or n in _EVERYWHERE}
    place = env.context(context)
    own: list[dict[str, Any]] = [{} if domain is None else {"js_domain": domain} for domain in domains]
    return [resolve(flags | one, place, variables) for one in own]
