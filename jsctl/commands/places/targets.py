"""The contexts and domains of a command that covers several."""

from collections.abc import Sequence

from jsctl.base.command_lines import build_line
from jsctl.base.files import read_text
from jsctl.commands.places.repeat import list_login_flags
from jsctl.contexts.settings import Settings
from jsctl.contexts.store import is_name
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound


def resolve_targets(env: Env, groups: Sequence[str] = (), *, all_contexts: bool = False) -> list[Settings]:
    """Return the settings of every domain of every context on the command line, in its order, each once.

    Without --context the selected context, without --js-domain each context's own domain. groups: names of
    groups of contexts, in addition to --context. Raises BadInput, NotFound.
    """
    names = [*env.repeated.get("context", ())]
    for group in groups:
        names += _read_group(env, group)
    if all_contexts:
        if names:
            raise BadInput(
                "--all-contexts cannot be used with --context and --group", "it covers all of them"
            )
        names = env.contexts.names()
        if not names:
            raise NotFound(
                "there are no contexts",
                f"{build_line('context add', 'NAME', flags=['--server', 'URL'])} adds one",
            )
    contexts: list[str | None] = list(dict.fromkeys(names)) or [None]
    if len(contexts) > 1 and "server" in env.flags and "server" not in env.from_environment:
        raise BadInput("--server can be used with at most one --context", "each context has its own")
    return [place for name in contexts for place in resolve_context_targets(env, name)]


def resolve_context_targets(env: Env, context: str | None) -> Sequence[Settings]:
    """Return the settings of every domain that the command line names, in one context; None is the selected
    one. Raises BadInput, NotFound."""
    domains: list[str | None] = list(dict.fromkeys(env.repeated.get("js_domain", ()))) or [None]
    overrides: list[dict[str, str]] = [{} if domain is None else {"js_domain": domain} for domain in domains]
    typed = tuple(list_login_flags(env))
    return [env.settings(context, **override)._replace(typed=typed) for override in overrides]


def _read_group(env: Env, name: str) -> list[str]:
    """Return the contexts of a group. Raises BadInput, NotFound."""
    if not is_name(name):
        raise BadInput(f"{name!r} is not a valid group name", "use a name without slashes or a leading dot")
    folder = env.contexts.root.parent / "jsctl" / "groups"
    path = folder / name
    if not path.is_file():
        existing = sorted(file.name for file in folder.glob("*")) if folder.is_dir() else []
        hint = (
            f"there are: {', '.join(existing)}" if existing else f"write its contexts to {path}, one per line"
        )
        raise NotFound(f"there is no group {name!r}", hint)
    lines = (line.partition("#")[0].strip() for line in read_text(path, "group").splitlines())
    names = [line for line in lines if line]
    if not names:
        raise BadInput(f"group {name!r} has no contexts", f"write them to {path}, one per line")
    return names
