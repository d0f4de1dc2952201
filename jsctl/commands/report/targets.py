"""Which contexts and domains a report is about."""

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
    domains: list[str | None] = list(dict.fromkeys(env.repeated.get("js_domain", ()))) or [None]
    flags, variables = dict(env.flags), env.from_environment
    if len(contexts) > 1:
        if "server" in flags and "server" not in variables:
            raise BadInput("--server goes with at most one --context", "each context has its own")
        flags = {n: v for n, v in flags.items() if n not in variables or n in _EVERYWHERE}
    places = []
    for name in contexts:
        context = env.context(name)
        for domain in domains:
            own: dict[str, Any] = {} if domain is None else {"js_domain": domain}
            places.append(resolve(flags | own, context, variables))
    return places
